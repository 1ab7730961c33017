import { BadRequest } from '../../common/errors/gateway-error.js';
import type { GrantedScope } from './scopes.js';

/** A token as its owner may see it again: everything except the token itself. */
export interface ApiToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly GrantedScope[];
  readonly boundUserId: string | null;
  /** The only agents that it may use, the first one by default; null for all. */
  readonly agents: readonly string[] | null;
  /** The first of the tokens that this one replaced, otherwise its own id. What a token makes belongs to its family. */
  readonly familyId: string;
  /** The owner with whom it ends; null when operators made it. */
  readonly maker: TokenMaker | null;
  /** When GATEWAY_BOOTSTRAP_TOKEN set it; null for all others. */
  readonly bootstrapAt: Date | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Who made a token: `ownersOf` its caller. */
export interface TokenMaker {
  /** The family of an API token, or an identity. */
  readonly family: string;
  /** Of a JWT with an id. */
  readonly credential: string | null;
}

const DAY_MS = 86_400_000;
const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS } as const;
const MAX_MS = 36_500 * DAY_MS;

/** Tokens live for 90 days by default (docs/specification/silences.md, Tokens). */
export function defaultExpiry(now = new Date()): Date {
  return new Date(now.getTime() + 90 * DAY_MS);
}

/**
 * `90d`, `12h`, `30m` or `45s` from now, or null for `never`. Throws `BadRequest` for anything else, for a time of zero
 * and for more than 36,500 days.
 */
export function parseExpiry(text: string, now = new Date()): Date | null {
  if (text === 'never') return null;
  const match = /^(\d{1,12})([smhd])$/.exec(text);
  const ms = match === null ? 0 : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  if (ms <= 0 || ms > MAX_MS) {
    throw new BadRequest('Expected a time such as 90d, 12h, 30m or 45s, at most 36500d, or never.');
  }
  return new Date(now.getTime() + ms);
}
