import { backOffMs } from './back-off.js';

/** The longest time that a timer of Node can wait, 24 days: with a longer one it would not wait at all. */
const LONGEST_MS = 2 ** 31 - 1;

/** A connection that lasted this long is stable: its next failure counts as the first again. */
const STABLE_MS = 10_000;

/** How one attempt ended. */
export interface AttemptEnd {
  readonly why: unknown;
  /** How long it was up, in milliseconds; 0 when it never was. */
  readonly lastedMs: number;
}

export interface SupervisorPolicy {
  /**
   * Opens one connection and waits until it ends, for whatever reason; it must not reject. The signal asks it to end.
   */
  attempt(signal: AbortSignal): Promise<AttemptEnd>;
  /** The longest pause after a first failure; each further one in a row doubles it, up to a minute. */
  readonly firstPauseMs: number;
  /** Whether the first failure of a connection that was up is followed by an attempt at once. */
  readonly isLossRetriedAtOnce?: boolean;
  /** Whether another attempt would fail the same way. Then none is made before `restart`. */
  isFinal(why: unknown): boolean;
  /** The least pause in milliseconds that the other side asked for. */
  leastPauseMs?(why: unknown): number;
  /** Called for each end that was not requested, with the pause that follows; undefined when no attempt follows. */
  ended?(why: unknown, pauseMs: number | undefined): void;
}

/**
 * Keeps one connection up for as long as it runs: attempt after attempt, never two at once, with pauses of full jitter
 * that grow with failures in a row. After a final failure it waits for `restart`. An attempt that `restart` or `stop`
 * ends does not count as a failure.
 */
export class Supervisor {
  private readonly stopped = new AbortController();
  private connection = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private failures = 0;

  constructor(
    private readonly policy: SupervisorPolicy,
    private readonly random: () => number = Math.random,
  ) {}

  /** For the current attempt or pause: aborted when `restart` or `stop` ends it. */
  get signal(): AbortSignal {
    return this.connection.signal;
  }

  /** Call it once. */
  start(): void {
    this.running = this.run();
  }

  /** Ends the attempt or the pause, and starts the next attempt at once, as if none had failed. */
  restart(): void {
    this.failures = 0;
    this.connection.abort(new Error('a restart was requested'));
  }

  /** Resolves when the last attempt has ended. */
  async stop(): Promise<void> {
    this.stopped.abort(new Error('the gateway stops'));
    this.connection.abort(this.stopped.signal.reason);
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      this.connection = new AbortController();
      const { signal } = this.connection;
      const end = await this.policy.attempt(signal);
      if (signal.aborted) continue;
      const pauseMs = this.pauseAfter(end);
      this.policy.ended?.(end.why, pauseMs);
      await pause(pauseMs, signal);
    }
  }

  private pauseAfter({ why, lastedMs }: AttemptEnd): number | undefined {
    this.failures = lastedMs > STABLE_MS ? 0 : this.failures + 1;
    if (this.policy.isFinal(why)) return undefined;
    const { firstPauseMs, isLossRetriedAtOnce = false } = this.policy;
    const isAtOnce = isLossRetriedAtOnce && lastedMs > 0 && this.failures <= 1;
    const backOff = isAtOnce ? 0 : backOffMs(this.failures - 1, firstPauseMs, this.random);
    return Math.max(backOff, this.policy.leastPauseMs?.(why) ?? 0);
  }
}

/**
 * Resolves after so many milliseconds, or early when the signal is aborted; without a time only then. Never rejects.
 */
function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(done, Math.min(ms, LONGEST_MS));
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
