/** Why a hook is not sent to any longer: its receiver said so (410), or nothing but failures for days. */
export type InactiveReason = 'gone' | 'failing';

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
  /** Set for a hook that hears of one user's sessions only. */
  readonly userId: string | null;
}
