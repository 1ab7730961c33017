import type { JwtIssuerSettings, RoleSettings } from '../settings/sections/auth.section.js';
import { type GrantedScope, grants, SCOPE_PRESETS } from '../tokens/scopes.js';
import { claimAt, claimWords } from './claims.js';
import type { JsonObject } from './strict-json.js';

const ANYONE = '*';

/** What the roles of a token allow together. */
export interface RoleGrant {
  /** Names in `[auth.jwt.<name>.roles]`; `*` for a caller that has none of the others. */
  readonly roles: readonly string[];
  readonly scopes: readonly GrantedScope[];
  /** Undefined means all agents; otherwise the first one is the default. */
  readonly agents: readonly string[] | undefined;
  readonly bound: boolean;
}

/**
 * What the roles of a token allow together; undefined for a token without a role.
 *
 * Combining roles never gives a caller what none of the roles gives. A caller with an unbound role is unbound and has
 * only the scopes of unbound roles: otherwise the scopes of a bound role would reach other people's sessions. For the
 * same reason the agents are only those of roles that may start turns.
 */
export function grantOf(
  claims: JsonObject,
  { roles, roles_claim }: JwtIssuerSettings,
): RoleGrant | undefined {
  const words = new Set(claimWords(claimAt(claims, roles_claim)));
  const named = Object.entries(roles).filter(([name]) => name !== ANYONE && words.has(name));
  const anyone = Object.hasOwn(roles, ANYONE) ? roles[ANYONE] : undefined;
  const held = named.length > 0 || anyone === undefined ? named : [[ANYONE, anyone] as const];
  if (held.length === 0) return undefined;
  const all = held.map(([, role]) => role);
  const unbound = all.filter(({ bound }) => !bound);
  const counted = unbound.length > 0 ? unbound : all;
  return {
    roles: held.map(([name]) => name),
    scopes: [...new Set(counted.flatMap(scopesOf))],
    agents: agentsOf(counted),
    bound: unbound.length === 0,
  };
}

function scopesOf({ preset, scopes }: RoleSettings): readonly GrantedScope[] {
  return preset === undefined ? (scopes ?? []) : SCOPE_PRESETS[preset];
}

function agentsOf(roles: readonly RoleSettings[]): readonly string[] | undefined {
  const talking = roles.filter((role) => grants(scopesOf(role), 'sessions:write'));
  const counted = talking.length > 0 ? talking : roles;
  if (counted.some(({ agents }) => agents === undefined)) return undefined;
  return [...new Set(counted.flatMap(({ agents }) => agents ?? []))];
}
