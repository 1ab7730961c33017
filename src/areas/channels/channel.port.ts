import { sentenceOf } from '../../common/errors/error-text.js';
import { withDeadline } from '../../platform/runtime/with-deadline.js';

export const CHANNEL_STATUSES = ['connected', 'disconnected', 'reconnecting'] as const;

export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];

/** The current state of a channel; the same on every replica. */
export interface ChannelState {
  readonly status: ChannelStatus;
  /** Set while connected. */
  readonly connectedAt: Date | undefined;
  /** Set while not connected, if a reason is known; contains no secret. */
  readonly error: string | undefined;
}

/** The outcome of a real round trip, within 10 s. */
export interface ChannelProbe {
  readonly ok: boolean;
  readonly latencyMs: number;
  /** Why it failed; contains no secret. */
  readonly error?: string;
}

/** A channel as callers of the API see it (docs/specification/silences.md, Channels). */
export abstract class Channel {
  abstract readonly name: string;
  abstract readonly enabled: boolean;
  abstract state(): Promise<ChannelState>;
  /** Resolves at once, with the status `reconnecting`; `state` shows the result later. Throws `ChannelDisabled`. */
  abstract restart(): Promise<void>;
  /** Never rejects. */
  abstract probe(): Promise<ChannelProbe>;
}

const TIMEOUT_MS = 10_000;

/** Times one round trip and never rejects; after 10 s it counts as failed. Its errors must contain no secret. */
export async function timedProbe(roundTrip: (signal: AbortSignal) => Promise<void>): Promise<ChannelProbe> {
  const startedAt = performance.now();
  const abort = new AbortController();
  const latencyMs = (): number => Math.round(performance.now() - startedAt);
  try {
    await withDeadline(roundTrip(abort.signal), TIMEOUT_MS, () => {
      abort.abort();
      throw new Error(`there was no response within ${TIMEOUT_MS / 1000} s`);
    });
    return { ok: true, latencyMs: latencyMs() };
  } catch (error) {
    return {
      ok: false,
      latencyMs: latencyMs(),
      error: sentenceOf(error),
    };
  }
}
