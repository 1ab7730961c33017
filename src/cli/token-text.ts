import type { ApiToken } from '../platform/tokens/api-token.js';
import type { MintedToken } from '../platform/tokens/tokens.service.js';
import { textTable } from './text-table.js';

/** A token as `--json` shows it. */
export interface TokenJson {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly user_id: string | null;
  readonly agents: readonly string[] | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

export function tokenJson(token: ApiToken): TokenJson {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    user_id: token.boundUserId,
    agents: token.agents,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt?.toISOString() ?? null,
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  };
}

export function mintedJson({ secret, token }: MintedToken): TokenJson & { readonly token: string } {
  return { token: secret, ...tokenJson(token) };
}

/** One sentence about a new token, for standard error; the token itself goes to standard output. */
export function mintedSentence({ token }: MintedToken, location: string): string {
  const { id, name, scopes, boundUserId, agents, expiresAt } = token;
  const parts = [
    `token ${id} "${name}"`,
    scopes.includes('*') ? 'may do everything' : `may ${scopes.join(', ')}`,
    ...(boundUserId === null ? [] : [`for user "${boundUserId}" alone`]),
    ...(agents === null ? [] : [`for the agents ${agents.join(', ')} alone`]),
    expiresAt === null ? 'never expires' : `expires ${expiresAt.toISOString()}`,
  ];
  return `${parts.join(', ')}; it is shown only this once. Stored in ${location}.`;
}

/** Names, scopes and users wrap to keep lines within 100 columns. */
const SHAPE = { width: 100, folded: [1, 2, 3] };

/** The tokens as a table with a head, for people. */
export function tokenTable(tokens: readonly ApiToken[], now = new Date()): string {
  const head = ['ID', 'NAME', 'SCOPES', 'USER', 'EXPIRES', 'LAST USED', 'STATE'];
  return textTable([head, ...tokens.map((token) => cells(token, now))], SHAPE);
}

function cells(token: ApiToken, now: Date): string[] {
  return [
    token.id,
    token.name,
    token.scopes.join(','),
    token.boundUserId ?? '-',
    token.expiresAt === null ? 'never' : day(token.expiresAt),
    token.lastUsedAt === null ? 'never' : day(token.lastUsedAt),
    stateOf(token, now),
  ];
}

function stateOf({ revokedAt, expiresAt }: ApiToken, now: Date): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

/** `2026-01-31`, in UTC. */
function day(time: Date): string {
  return time.toISOString().slice(0, 10);
}
