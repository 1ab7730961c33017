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

/** Scopes of the operators' API and of whom calls act for, which have no pair. */
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
 * What a route or a check asks for. `approvals:write` answers tool calls that wait for a person; `users:act_as` lets the
 * caller name another user than oneself; `security:write` changes settings that decide who may do what (marked `security`
 * in the schema), beside `config:write`.
 */
export type Scope = `${(typeof SCOPE_AREAS)[number]}:${'read' | 'write'}` | (typeof SINGLE_SCOPES)[number];
/** What a token carries: scopes, or `*` for all of them, those of later versions included. */
export type GrantedScope = Scope | '*';
export type ScopePreset = 'admin' | 'operator' | 'viewer';

export const SCOPES: readonly Scope[] = [
  ...SCOPE_AREAS.flatMap((area): Scope[] => [`${area}:read`, `${area}:write`]),
  ...SINGLE_SCOPES,
];

const GRANTABLE: readonly GrantedScope[] = [...SCOPES, '*'];
/** Only administrators hold these: with them a token could give itself the rest. */
const ADMINISTRATION: readonly Scope[] = ['tokens:write', 'security:write'];
/** What those who only look on do not see: who may call, and who did what. */
const CONFIDENTIAL: readonly Scope[] = ['tokens:read', 'audit:read'];

/** `operator` runs and configures the gateway, but does not change who may do what; `viewer` reads. */
export const SCOPE_PRESETS: Readonly<Record<ScopePreset, readonly GrantedScope[]>> = {
  admin: ['*'],
  operator: SCOPES.filter((scope) => !ADMINISTRATION.includes(scope)),
  viewer: SCOPES.filter((scope) => scope.endsWith(':read') && !CONFIDENTIAL.includes(scope)),
};

/** 403: the token is good, and not for this. */
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
 * The scopes named, without blanks around them and without repeats, in one fixed order.
 * Throws `UnknownScope` for the first unknown name and `BadRequest` for an empty list.
 */
export function parseScopes(list: readonly string[]): GrantedScope[] {
  const named = new Set(list.map((text) => text.trim()));
  for (const text of named) if (!isGrantable(text)) throw new UnknownScope(text);
  if (named.size === 0) throw new BadRequest(`Name at least one scope of ${GRANTABLE.join(', ')}.`);
  return GRANTABLE.filter((scope) => named.has(scope));
}

/**
 * Whether scopes held cover the scope needed. Only `*` implies others: a `write` does not include its `read`, so
 * that a token which may only post (a monitor opening sessions, say) cannot read what others wrote.
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
