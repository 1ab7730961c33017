import type { GatewaySettings } from '../settings/settings.schema.js';
import type { Caller } from './caller.js';

type Limits = GatewaySettings['limits'];
type OwnLimits = Limits['api_tokens'][string];

/** The token to which a share belongs. */
export type TokenHolder = Pick<Caller, 'tokenId' | 'tokenName'>;

/** Limits what one API token may take of things that all share. */
export type SharedThing = 'hooks' | 'task_hooks' | 'streams' | 'waiting_messages' | 'stored_bytes';

/** Channels write for many people, so a token's limits apply to them only when they are named (`channel:<name>`). */
const CHANNEL = /^channel:/;

/** How much of something the caller's token may use, by `[limits]`; 0 is no limit. */
export function shareOf(limits: Limits, caller: TokenHolder, thing: SharedThing): number {
  return ownLimitsOf(limits, caller)?.[thing] ?? (isChannel(caller) ? 0 : limits[`${thing}_per_api_token`]);
}

/** What `limits.api_tokens` sets for this token, by its id or its name; the id wins. */
export function ownLimitsOf({ api_tokens: all }: Limits, caller: TokenHolder): OwnLimits | undefined {
  const named = (key: string): OwnLimits | undefined => (Object.hasOwn(all, key) ? all[key] : undefined);
  return named(caller.tokenId) ?? (isChannel(caller) ? undefined : named(caller.tokenName));
}

/** How many streams the token may have open in this process: never more than half, unless its share is 0. */
export function shareOfStreams(limits: Limits, caller: TokenHolder, maxStreams: number): number {
  const share = shareOf(limits, caller, 'streams');
  return share === 0 ? maxStreams : Math.min(share, Math.ceil(maxStreams / 2));
}

/**
 * Joins `t (id, name)` to rows with a `family`: the token whose limits apply to it now. Where there is none, as for
 * channels and identities, its columns are null.
 */
export const TOKEN_OF_FAMILY = `LEFT JOIN LATERAL (
  SELECT id, name FROM api_tokens WHERE coalesce(family_id, id) = family
  ORDER BY (revoked_at IS NULL) DESC, created_at DESC, id DESC LIMIT 1
) AS t ON true`;

/** Whether settings would mistake a token of this name for a channel. */
export function isChannelName(name: string): boolean {
  return CHANNEL.test(name);
}

export function isChannel({ tokenId }: Pick<Caller, 'tokenId'>): boolean {
  return CHANNEL.test(tokenId);
}
