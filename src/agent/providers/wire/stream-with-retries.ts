import { setTimeout as pause } from 'node:timers/promises';
import type { ModelCallOptions, ModelEvent } from '../../model-provider.port.js';
import { AttemptClock } from './attempt-clock.js';
import type { Judgement } from './judge-fault.js';

export interface RetryPolicy {
  /** Further attempts after the first. */
  readonly maxRetries: number;
  /** The first back-off, in milliseconds; it doubles, with full jitter. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** A provider that asks for a longer wait is not waited for, in milliseconds. */
  readonly maxRetryAfterMs: number;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxRetries: 2,
  baseDelayMs: 500,
  maxDelayMs: 8000,
  maxRetryAfterMs: 30_000,
};

export interface RetriedCall {
  readonly provider: string;
  readonly policy: RetryPolicy;
  /** Makes one attempt, which ends when the clock's signal does. */
  attempt(clock: AttemptClock): AsyncIterable<ModelEvent>;
  judge(error: unknown): Judgement;
}

const LEFT = Symbol('the consumer left');

/**
 * Runs attempts until one yields something; from then on that one counts, whatever becomes of it.
 * `return()` ends the call at once, even while a `next()` is pending or a back-off is waited out.
 */
export function streamWithRetries(
  call: RetriedCall,
  options: ModelCallOptions,
): AsyncIterableIterator<ModelEvent> {
  const stop = new AbortController();
  const events = run(call, options, stop);
  let pending = 0;
  return {
    next() {
      pending += 1;
      return events.next().finally(() => {
        pending -= 1;
      });
    },
    async return() {
      // Between two events leaving closes what is open by itself, and spares a connection that is read to its end.
      if (pending > 0) stop.abort(LEFT);
      await events.return(undefined);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* run(
  call: RetriedCall,
  options: ModelCallOptions,
  stop: AbortController,
): AsyncGenerator<ModelEvent, undefined> {
  const { signal } = options;
  const onAbort = () => stop.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (let retries = 0; ; retries += 1) {
      const failure = yield* attemptOnce(call, { ...options, signal: stop.signal });
      if (failure === undefined) return undefined;
      await pause(delayBefore(failure, retries, call.policy), undefined, { signal: stop.signal });
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    if (stop.signal.reason === LEFT) return undefined;
    throw stop.signal.reason;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Returns the failure of an attempt of which nothing was seen; throws every other one. */
async function* attemptOnce(
  call: RetriedCall,
  options: ModelCallOptions,
): AsyncGenerator<ModelEvent, Judgement | undefined> {
  const clock = new AttemptClock(call.provider, options);
  let yielded = false;
  try {
    for await (const event of call.attempt(clock)) {
      options.signal.throwIfAborted();
      yielded = true;
      yield event;
    }
    return undefined;
  } catch (error) {
    if (clock.signal.aborted) throw clock.signal.reason;
    const judgement = call.judge(error);
    if (yielded || !judgement.retryable) throw judgement.error;
    return judgement;
  } finally {
    clock.release();
  }
}

/** Milliseconds until the next attempt; throws the failure when there is to be none. */
function delayBefore(failure: Judgement, retries: number, policy: RetryPolicy): number {
  const asked = failure.retryAfterMs ?? 0;
  if (retries >= policy.maxRetries || asked > policy.maxRetryAfterMs) throw failure.error;
  const backOff = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** retries);
  // What was asked for is waited out in full, with jitter on top, so that callers do not return all at once.
  return asked + Math.random() * backOff;
}
