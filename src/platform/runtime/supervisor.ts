import { backOffMs } from './back-off.js';

/** The longest time that a timer of Node waits, 24 days: after a longer one it would not wait at all. */
const LONGEST_MS = 2 ** 31 - 1;

/** What lasted this long is stable: the next failure is the first again. */
const STABLE_MS = 10_000;

/** How one attempt ended. */
export interface AttemptEnd {
  readonly why: unknown;
  /** How long it was up, in milliseconds; 0 when it never was. */
  readonly lastedMs: number;
}

export interface SupervisorPolicy {
  /** Opens one connection and waits for its end, whatever that is: it must not reject. The signal asks for the end. */
  attempt(signal: AbortSignal): Promise<AttemptEnd>;
  /** The longest pause after a first failure; each further one in a row doubles it, up to a minute. */
  readonly firstPauseMs: number;
  /** Whether a first failure of what had been up is followed by an attempt at once. */
  readonly isLossRetriedAtOnce?: boolean;
  /** Whether another attempt would end alike: none is made before `restart`. */
  isFinal(why: unknown): boolean;
  /** The least pause in milliseconds that the other side asks for. */
  leastPauseMs?(why: unknown): number;
  /** Told of each end that nobody asked for, with the pause that follows; undefined when no attempt follows. */
  ended?(why: unknown, pauseMs: number | undefined): void;
}

/**
 * Keeps one connection up for as long as it runs: attempt after attempt, never two at once, with pauses of full jitter that
 * grow with failures in a row. A final failure waits for `restart`. An attempt that `restart` or `stop` ends is no failure.
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

  /** Of the attempt or the pause of this moment: aborted when `restart` or `stop` ends it. */
  get signal(): AbortSignal {
    return this.connection.signal;
  }

  /** Call it once. */
  start(): void {
    this.running = this.run();
  }

  /** Ends the attempt or the pause, and begins the next attempt at once, as if none had failed. */
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

/** Resolves after so many milliseconds, or early with the signal; without a time only with the signal. Never rejects. */
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
