import { setTimeout as pause } from 'node:timers/promises';
import type { Egress } from '../../../../platform/outbound/egress.js';
import type { ModelCallOptions, ModelEvent } from '../../model-provider.port.js';
import { AttemptClock } from './attempt-clock.js';
import type { FaultClass } from './classify-fault.js';

/** How an adapter reaches its provider. */
export interface WireOptions {
  /** What messages call it. */
  readonly label: string;
  /** The table of its settings, and where its key is looked up: for messages. */
  readonly section: string;
  readonly keySource: string;
  /** Empty sends no credentials at all. */
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly defaultModel: string;
  readonly retries: RetryPolicy;
  /** How connections leave the network. */
  readonly egress: Egress;
}

export interface RetryPolicy {
  /** Further attempts after the first. */
  readonly maxRetries: number;
  /** The first back-off, in milliseconds; it doubles, with full jitter. */
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  /** If a provider asks for a longer wait than this, there is no further attempt; in milliseconds. */
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
  attempt(clock: AttemptClock): Promise<AsyncIterable<ModelEvent>> | AsyncIterable<ModelEvent>;
  classify(error: unknown): FaultClass;
}

const LEFT = Symbol('the consumer left');

/**
 * Runs attempts until one yields something; from then on that attempt counts, whatever happens to it. `return()` ends
 * the call at once, even while a `next()` is pending or a back-off is waited out.
 */
export function streamWithRetries(
  call: RetriedCall,
  options: ModelCallOptions,
): AsyncIterableIterator<ModelEvent> {
  return new RetriedStream(call, options);
}

/** One generator over all attempts: each further one around it would cost every word of an answer three promises. */
class RetriedStream implements AsyncIterableIterator<ModelEvent> {
  private readonly events = this.run();
  /** Of the newest attempt; it also ends the pause after it. */
  private clock: AttemptClock | undefined;
  /** Whether the consumer waits: between two events nothing has to be broken off. */
  private isAwaited = true;

  constructor(
    private readonly call: RetriedCall,
    private readonly options: ModelCallOptions,
  ) {}

  next(): Promise<IteratorResult<ModelEvent, undefined>> {
    return this.events.next();
  }

  async return(): Promise<IteratorResult<ModelEvent, undefined>> {
    // Between two events, leaving closes by itself what is open, and spares a connection that is read to its end.
    if (this.isAwaited) this.clock?.end(LEFT);
    await this.events.return(undefined);
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private async *run(): AsyncGenerator<ModelEvent, undefined> {
    for (let retries = 0; ; retries += 1) {
      this.options.signal.throwIfAborted();
      const clock = new AttemptClock(this.call.provider, this.options);
      this.clock = clock;
      let hasStarted = false;
      try {
        for await (const event of await this.call.attempt(clock)) {
          this.options.signal.throwIfAborted();
          hasStarted = true;
          this.isAwaited = false;
          yield event;
          this.isAwaited = true;
        }
        return undefined;
      } catch (error) {
        clock.rest();
        if (!clock.signal.aborted)
          await this.backOff(error, retries, hasStarted || clock.hasBegun, clock.signal);
        if (clock.signal.reason === LEFT) return undefined;
        clock.signal.throwIfAborted();
      } finally {
        clock.release();
      }
    }
  }

  /** Waits until the next attempt or for the signal. Throws the failure when there is no further attempt. */
  private async backOff(
    error: unknown,
    retries: number,
    hasStarted: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const failure = this.call.classify(error);
    if (hasStarted || !failure.retryable) throw failure.error;
    await pause(delayBefore(failure, retries, this.call.policy), undefined, { signal }).catch(
      () => undefined,
    );
  }
}

/** Milliseconds until the next attempt; throws the failure when there is none. */
function delayBefore(failure: FaultClass, retries: number, policy: RetryPolicy): number {
  const asked = failure.retryAfterMs ?? 0;
  if (retries >= policy.maxRetries || asked > policy.maxRetryAfterMs) throw failure.error;
  const backOff = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** retries);
  // The requested wait is kept in full, with jitter on top, so that callers do not return all at once.
  return asked + Math.random() * backOff;
}
