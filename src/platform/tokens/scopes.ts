import { BadRequest, Forbidden } from '../../common/errors/gateway-error.js';

/** Areas with a `read` and a `write`. */
const SCOPE_AREAS = [
  'sessions',
  'channels',
  'hooks',
  'mcp',
  'plugins',
  'skills',
  'status',
  'config',
  'logs',
  'metrics',
  'approvals',
] as const;

/** Scopes that are not a pair: those of the operators' API, and the one to act for other users. */
const SINGLE_SCOPES = [
  'users:act_as',
  'agents:read',
  'usage:read',
  'audit:read',
  'tokens:read',
  'tokens:write',
  'security:write',
] as const;

/**
 * What a route or a check asks for. `approvals:write` answers tool calls that wait for a person; `users:act_as` lets
 * the caller name a user other than itself; `security:write`, besides `config:write`, changes settings that decide who
 * may do what (marked `security` in the schema).
 */
export type Scope = `${(typeof SCOPE_AREAS)[number]}:${'read' | 'write'}` | (typeof SINGLE_SCOPES)[number];
/** What a token holds: scopes, or `*` for all of them, including those of later versions. */
export type GrantedScope = Scope | '*';
export type ScopePreset = 'admin' | 'operator' | 'viewer';

export const SCOPES: readonly Scope[] = [
  ...SCOPE_AREAS.flatMap((area): Scope[] => [`${area}:read`, `${area}:write`]),
  ...SINGLE_SCOPES,
];

const GRANTABLE: readonly GrantedScope[] = [...SCOPES, '*'];
/** Only administrators hold these: with them a token could give itself all others. */
const ADMINISTRATION: readonly Scope[] = ['tokens:write', 'security:write'];
/** What viewers do not see: who may call, and who did what. */
const CONFIDENTIAL: readonly Scope[] = ['tokens:read', 'audit:read'];

/** `operator` runs and configures the gateway, but does not change who may do what. `viewer` only reads. */
export const SCOPE_PRESETS: Readonly<Record<ScopePreset, readonly GrantedScope[]>> = {
  admin: ['*'],
  operator: SCOPES.filter((scope) => !ADMINISTRATION.includes(scope)),
  viewer: SCOPES.filter((scope) => scope.endsWith(':read') && !CONFIDENTIAL.includes(scope)),
};

/** 403: the token is valid, but does not allow this. */
export class LacksScope extends Forbidden {
  constructor(scope: Scope) {
    super(`This token lacks the scope "${scope}". Ask for a token that has it.`);
  }
}

export class UnknownScope extends BadRequest {
  constructor(scope: string) {
    super(`Unknown scope ${quoted(scope)}; known scopes are ${GRANTABLE.join(', ')}.`);
  }
}

/**
 * The named scopes, without blanks and repeats, in one fixed order. Throws `UnknownScope` for the first unknown name
 * and `BadRequest` for an empty list.
 */
export function parseScopes(list: readonly string[]): GrantedScope[] {
  const named = new Set(list.map((text) => text.trim()));
  for (const text of named) if (!isGrantable(text)) throw new UnknownScope(text);
  if (named.size === 0) throw new BadRequest(`Name at least one scope of ${GRANTABLE.join(', ')}.`);
  return GRANTABLE.filter((scope) => named.has(scope));
}

/**
 * Whether the scopes held cover the scope needed. Only `*` implies others. A `write` does not include its `read`, so
 * that a token that may only post (for a monitor that opens sessions, say) cannot read what others wrote.
 */
export function grants(granted: readonly GrantedScope[], needed: Scope): boolean {
  return granted.includes(needed) || granted.includes('*');
}

function isGrantable(text: string): text is GrantedScope {
  return (GRANTABLE as readonly string[]).includes(text);
}

function quoted(text: string): string {
  return text.length > 64 ? `of ${text.length} characters` : `"${text}"`;
}
