import type { Caller } from '../../platform/tokens/caller.js';

/** Why attempts to send to a hook were given up: its receiver said so (410), or nothing but failures for days. */
export type GivenUpReason = 'gone' | 'failing';
/** Why a hook is not sent to any longer: it was given up, or the token that made it was revoked. */
export type InactiveReason = GivenUpReason | 'token_revoked';

/** A webhook as callers see it; its secret stays in the store. */
export interface Hook {
  readonly id: string;
  readonly url: string;
  /** Names and patterns, as they were subscribed to. */
  readonly events: readonly string[];
  readonly active: boolean;
  readonly inactiveReason: InactiveReason | null;
  readonly createdAt: Date;
}

export interface NewHook {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string | null;
  /** It ends with their token. When that is bound to a user, it hears of that user's sessions only. */
  readonly maker: Caller;
}
