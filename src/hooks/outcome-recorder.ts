import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { EventSignal } from '../events/event-signal.js';
import { type Logger, Logs } from '../logs/logger.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import type { Outcome } from './outcome.js';
import { OutcomeStore } from './outcome.store.js';

/** What comes in while a batch is written makes the next one; so long is waited for company. */
const GATHER_MS = 2;
const AGAIN_MS = 500;
const MOST_AT_ONCE = 1000;

interface Waiting {
  readonly outcome: Outcome;
  readonly done: () => void;
}

/**
 * Writes outcomes in batches, one batch at a time. Bounded by those who wait for it: a lane asks for more only when its
 * outcomes are written.
 */
@Injectable()
export class OutcomeRecorder {
  private readonly logger: Logger;
  private waiting: Waiting[] = [];
  private isWriting = false;
  private givenUp = false;

  constructor(
    private readonly store: OutcomeStore,
    private readonly metrics: DeliveryMetrics,
    private readonly signal: EventSignal,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::deliverer');
  }

  /** Resolves when it is written. While the database does not answer it is tried again, until `giveUp`. */
  record(outcome: Outcome): Promise<void> {
    this.metrics.count(outcome);
    return new Promise((done) => {
      this.waiting.push({ outcome, done });
      if (!this.isWriting) void this.write();
    });
  }

  /** What is not written by now is attempted again, by whoever sends next. */
  giveUp(): void {
    this.givenUp = true;
  }

  /** Ends in the same step in which it finds nothing more, so that what comes next begins a new one. */
  private async write(): Promise<void> {
    this.isWriting = true;
    await sleep(GATHER_MS);
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, MOST_AT_ONCE);
      await this.writeBatch(batch.map(({ outcome }) => outcome));
      for (const { done } of batch) done();
    }
    this.isWriting = false;
  }

  private async writeBatch(outcomes: readonly Outcome[]): Promise<void> {
    for (;;) {
      try {
        for (const { hookId, reason, told } of await this.store.record(outcomes)) {
          this.logger.warn('a webhook is given up', { hook_id: hookId, reason });
          this.signal.told(told);
        }
        return;
      } catch (error) {
        if (this.givenUp) return;
        this.logger.warn('deliveries could not be written down; it is tried again', {
          deliveries: outcomes.length,
          error: String(error),
        });
        await sleep(AGAIN_MS);
      }
    }
  }
}
