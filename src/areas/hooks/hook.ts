import type { Caller } from '../../platform/tokens/caller.js';

/** Why a hook was given up: its receiver responded 410, or every attempt failed for five days. */
export type GivenUpReason = 'gone' | 'failing';
/** Why a hook is inactive: it was given up, or the token that made it was revoked. */
export type InactiveReason = GivenUpReason | 'token_revoked';

/** A webhook as callers see it; its secret stays in the store. */
export interface Hook {
  readonly id: string;
  readonly url: string;
  /** The subscribed names and patterns, as given. */
  readonly events: readonly string[];
  readonly active: boolean;
  readonly inactiveReason: InactiveReason | null;
  readonly createdAt: Date;
}

export interface NewHook {
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string | null;
  /** The hook ends with their token. If that is bound to a user, it gets only events of that user's sessions. */
  readonly maker: Caller;
}
