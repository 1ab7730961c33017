import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { EventSignal } from '../events/event-signal.js';
import { type Logger, Logs } from '../logs/logger.js';
import { FirstAttempts } from './first-attempts.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { Retries } from './retries.js';

/** The poll that makes certain what the signal makes quick. */
const POLL_MS = 1000;
/** After a signal: so long for company, and so often another look, in case a hook was just being left by another replica. */
const GATHER_MS = 2;
const LOOK_MS = 25;
const LOOKS = 2;
/** What is on its way at a stop may arrive within this, and what it came to be written down within that. */
const STOP_MS = 2000;
const WRITE_MS = 500;

/** Sends what is in the outbox, as long as the process runs. Every replica has one; what is claimed is claimed once. */
@Injectable()
export class Deliverer implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private loop: Promise<void> = Promise.resolve();
  private stopped = false;
  private failing = false;
  private looks = 0;
  private retriedAt = 0;

  constructor(
    private readonly firsts: FirstAttempts,
    private readonly retries: Retries,
    private readonly recorder: OutcomeRecorder,
    private readonly signal: EventSignal,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::deliverer');
  }

  onApplicationBootstrap(): void {
    this.signal.onCommitted(() => {
      this.looks = LOOKS;
      this.firsts.bell.ring();
    });
    this.loop = this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    this.firsts.bell.ring();
    await this.loop;
    this.firsts.finish();
    await this.idleWithin(STOP_MS);
    this.firsts.stop();
    this.retries.stop();
    await this.idleWithin(WRITE_MS);
    this.recorder.giveUp();
    // Without a database the lanes free themselves.
    await this.firsts.leave().catch(() => undefined);
  }

  private async idleWithin(limitMs: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < limitMs && !this.isIdle; waitedMs += LOOK_MS) await sleep(LOOK_MS);
  }

  /** The hook was deleted: what is still to be sent to it stays here. */
  forget(hookId: string): void {
    this.firsts.forget(hookId);
    this.retries.forget(hookId);
  }

  private get isIdle(): boolean {
    return this.firsts.isIdle && this.retries.isIdle;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      await this.round();
      await this.firsts.bell.wait(this.looks-- > 0 ? LOOK_MS : POLL_MS);
      await sleep(GATHER_MS);
    }
  }

  private async round(): Promise<void> {
    try {
      if (await this.firsts.round()) this.looks = 0;
      if (performance.now() - this.retriedAt >= POLL_MS) {
        this.retriedAt = performance.now();
        await this.retries.round();
      }
      this.failing = false;
    } catch (error) {
      if (!this.failing) {
        this.logger.warn('webhooks cannot be sent; it goes on when the database answers', {
          error: String(error),
        });
      }
      this.failing = true;
      await sleep(POLL_MS);
    }
  }
}
