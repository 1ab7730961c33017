export type ChannelStatus = 'connected' | 'disconnected' | 'reconnecting';

/** The outcome of a real round trip; never rejects, within 10 s. */
export interface ChannelProbe {
  readonly ok: boolean;
  readonly latencyMs: number;
  /** Why not, without secrets. */
  readonly error?: string;
}

/** A connection to where people write (decisions, section 5). */
export abstract class Channel {
  abstract readonly name: string;
  abstract readonly status: ChannelStatus;
  /** Set while connected. */
  abstract readonly connectedAt: Date | undefined;
  /** Set while not connected and something is known. */
  abstract readonly error: string | undefined;
  /** Answers at once: the status is `reconnecting`, and what it becomes is seen later. */
  abstract restart(): void;
  abstract probe(): Promise<ChannelProbe>;
}
