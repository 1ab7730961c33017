import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../platform/logging/logger.js';
import { backOffMs } from '../../../platform/runtime/back-off.js';
import type { ChannelStatus } from '../channel.port.js';
import type { ChannelAdapter, ReceiverLink } from '../channel-adapter.port.js';
import { ChannelRefused, ChannelUnreachable } from '../channel-failures.js';

/** A connection that held so long was a good one: the next failure is the first. */
const STABLE_MS = 10_000;
const FIRST_PAUSE_MS = 2000;
const MAX_PROBLEM = 300;

export interface RunnerParts {
  readonly logger: Logger;
  /** Throws `ChannelRefused` when the settings do not suffice. */
  adapter(): Promise<ChannelAdapter>;
  cursor(): Promise<ReceiverLink['cursor']>;
  readonly conversations: ReceiverLink['conversations'];
  readonly store: ReceiverLink['store'];
  /** Told of every change, and again until it resolves. False when the lease is lost. `error` is redacted. */
  write(status: ChannelStatus, error: string | undefined): Promise<boolean>;
  redact(text: string): string;
}

/** Receives for one channel as long as this replica holds its lease: connects, and connects again with back-off. */
export class ChannelRunner {
  private readonly stopped = new AbortController();
  private round = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private writing: Promise<void> = Promise.resolve();
  /** Why it is not connected; told until it is, also while it is tried again. */
  private problem: string | undefined;
  private failures = 0;
  private target: { readonly status: ChannelStatus; readonly error: string | undefined } | undefined;

  constructor(private readonly parts: RunnerParts) {}

  start(): void {
    this.running = this.run();
  }

  /** Resolves when nothing of it receives any more, and what it is now is written. */
  async stop(status: 'reconnecting' | 'disconnected'): Promise<void> {
    this.stopped.abort(new Error('the channel stops'));
    this.round.abort(this.stopped.signal.reason);
    await this.running;
    this.report(status, undefined);
    await this.writing;
  }

  /** Leaves what there is and begins anew. */
  restart(): void {
    this.failures = 0;
    this.problem = undefined;
    this.round.abort(new Error('a restart was asked for'));
  }

  /** Tries again to say what could not be said. */
  reportAgain(): void {
    const { target } = this;
    if (target !== undefined) this.report(target.status, target.error);
  }

  private async run(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      this.round = new AbortController();
      const { signal } = this.round;
      this.report('reconnecting', this.problem);
      const { why, lastedMs } = await this.live(signal);
      if (signal.aborted) continue;
      this.failures = lastedMs > STABLE_MS ? 1 : this.failures + 1;
      const wasGood = lastedMs > 0 && this.failures === 1;
      await this.pauseAfter(why, wasGood ? 0 : backOffMs(this.failures - 1, FIRST_PAUSE_MS), signal);
    }
  }

  /** One connection from its beginning to its end. */
  private async live(signal: AbortSignal): Promise<{ why: unknown; lastedMs: number }> {
    let upAt: number | undefined;
    let why: unknown = new ChannelUnreachable('the platform ended the connection');
    const connected = (): void => {
      if (signal.aborted || upAt !== undefined) return;
      upAt = performance.now();
      this.problem = undefined;
      this.parts.logger.info('connected');
      this.report('connected', undefined);
    };
    try {
      const adapter = await this.parts.adapter();
      const { store, conversations } = this.parts;
      const cursor = await this.parts.cursor();
      await adapter.receive({ cursor, conversations, connected, store }, signal);
    } catch (error) {
      why = error;
    }
    return { why, lastedMs: upAt === undefined ? 0 : performance.now() - upAt };
  }

  /** What was connected is tried again at once: it may be a refusal, and platforms renew their connections. */
  private async pauseAfter(why: unknown, backOff: number, signal: AbortSignal): Promise<void> {
    const error = this.parts.redact(why instanceof Error ? why.message : String(why)).slice(0, MAX_PROBLEM);
    this.problem = error;
    if (why instanceof ChannelRefused) {
      this.parts.logger.warn('the platform refuses this channel; a restart or other settings begin anew', {
        reason: error,
      });
      this.report('disconnected', error);
      await aborted(signal);
      return;
    }
    const atLeastMs = why instanceof ChannelUnreachable ? (why.retryAfterMs ?? 0) : 0;
    const pauseMs = Math.max(atLeastMs, backOff);
    this.parts.logger.warn('the channel is not connected', {
      reason: error,
      retry_in_ms: Math.round(pauseMs),
    });
    this.report('reconnecting', error);
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }

  /** In their order; what comes while the last is being written replaces what waits. */
  private report(status: ChannelStatus, error: string | undefined): void {
    const report = { status, error };
    this.target = report;
    this.writing = this.writing.then(async () => {
      if (this.target !== report) return;
      const isWritten = await this.parts.write(status, error).then(
        () => true,
        () => false,
      );
      if (isWritten && this.target === report) this.target = undefined;
    });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
