export const CHANNEL_STATUSES = ['connected', 'disconnected', 'reconnecting'] as const;

export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];

/** What is known of a channel at the moment it was asked for; the same on every replica. */
export interface ChannelState {
  readonly status: ChannelStatus;
  /** Set while connected. */
  readonly connectedAt: Date | undefined;
  /** Set while not connected and something is known; without secrets. */
  readonly error: string | undefined;
}

/** The outcome of a real round trip; never rejects, within 10 s. */
export interface ChannelProbe {
  readonly ok: boolean;
  readonly latencyMs: number;
  /** Why not, without secrets. */
  readonly error?: string;
}

/** A way in which people reach the agent, as callers of the API see it (docs/specification/silences.md, Channels). */
export abstract class Channel {
  abstract readonly name: string;
  abstract readonly enabled: boolean;
  abstract state(): Promise<ChannelState>;
  /** Answers at once: the status is `reconnecting`, and what it becomes is seen later. Throws `ChannelDisabled`. */
  abstract restart(): Promise<void>;
  abstract probe(): Promise<ChannelProbe>;
}
