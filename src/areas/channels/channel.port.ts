import { sentenceOf } from '../../common/errors/sentence-of.js';

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

const TIMEOUT_MS = 10_000;

/** Runs one round trip and says what came of it, within 10 s. What it throws must hold no secret. */
export async function timedProbe(roundTrip: (signal: AbortSignal) => Promise<void>): Promise<ChannelProbe> {
  const startedAt = performance.now();
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      abort.abort();
      reject(new Error(`there was no answer within ${TIMEOUT_MS / 1000} s`));
    }, TIMEOUT_MS);
  });
  const latencyMs = (): number => Math.round(performance.now() - startedAt);
  try {
    await Promise.race([roundTrip(abort.signal), late]);
    return { ok: true, latencyMs: latencyMs() };
  } catch (error) {
    return {
      ok: false,
      latencyMs: latencyMs(),
      error: sentenceOf(error),
    };
  } finally {
    clearTimeout(timer);
  }
}
