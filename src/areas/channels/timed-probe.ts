import { sentenceOf } from '../../common/errors/sentence-of.js';
import type { ChannelProbe } from './channel.port.js';

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
