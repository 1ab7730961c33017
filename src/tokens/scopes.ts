import { BadRequest } from '../errors/gateway-error.js';

export const SCOPE_AREAS = [
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
] as const;

export type ScopeArea = (typeof SCOPE_AREAS)[number];
/** What a route asks for. */
export type Scope = `${ScopeArea}:${'read' | 'write'}`;
/** What a token carries: scopes, or `*` for all of them, those of later versions included. */
export type GrantedScope = Scope | '*';
export type ScopePreset = 'admin' | 'operator' | 'viewer';

const READS = SCOPE_AREAS.map((area): Scope => `${area}:read`);

export const SCOPES: readonly Scope[] = SCOPE_AREAS.flatMap((area): Scope[] => [
  `${area}:read`,
  `${area}:write`,
]);

const GRANTABLE: readonly GrantedScope[] = [...SCOPES, '*'];

/**
 * `operator` runs what is configured but does not change the configuration: whoever writes it chooses providers,
 * limits and who may talk to the agent, which is an administrator's decision.
 */
export const SCOPE_PRESETS: Readonly<Record<ScopePreset, readonly GrantedScope[]>> = {
  admin: ['*'],
  operator: [...READS, 'sessions:write', 'channels:write', 'hooks:write', 'mcp:write', 'plugins:write'],
  viewer: READS,
};

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
