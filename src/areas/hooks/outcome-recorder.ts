import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../common/errors/gateway-error.js';
import { EventSignal } from '../../platform/events/event-signal.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import type { GivenUpReason } from './hook.js';
import type { Outcome } from './outcome.js';
import { OutcomeStore } from './outcome.store.js';

/** What comes in while a batch is written makes the next one; so long is waited for company. */
const GATHER_MS = 2;
/** And so long when there has been some: half as many statements take a third less of the database for each outcome. */
const GATHER_MORE_MS = 10;
const RETRY_MS = 500;
const MAX_AT_ONCE = 1000;
/** A batch that the database refuses for itself, not for being away, is tried so often as a whole. */
const MAX_REFUSALS = 3;

/** Why a webhook was given up, for people. */
const WHY: Readonly<Record<GivenUpReason, string>> = {
  gone: 'its receiver answered 410',
  failing: 'nothing but failures for five days',
};

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
    private readonly outcomes: OutcomeStore,
    private readonly metrics: DeliveryMetrics,
    private readonly signal: EventSignal,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::deliverer');
  }

  /**
   * Resolves when it is written, or when the database has refused it for good: then it is sent again. While the database
   * does not answer it is tried again, until `giveUp`.
   */
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
      const batch = this.waiting.splice(0, MAX_AT_ONCE);
      await this.writeBatch(batch.map(({ outcome }) => outcome));
      for (const { done } of batch) done();
      if (this.waiting.length > 0) await sleep(GATHER_MORE_MS);
    }
    this.isWriting = false;
  }

  /** Of a batch that the database refuses every one is tried by itself. */
  private async writeBatch(outcomes: readonly Outcome[]): Promise<void> {
    if (await this.isWritten(outcomes, MAX_REFUSALS)) return;
    for (const outcome of outcomes) if (!(await this.isWritten([outcome], 1))) await this.putOff(outcome);
  }

  /** False when the database has refused them so often for themselves; while it is away that does not count. */
  private async isWritten(outcomes: readonly Outcome[], maxRefusals: number): Promise<boolean> {
    for (let refusals = 0; refusals < maxRefusals; ) {
      try {
        await this.store(outcomes);
        return true;
      } catch (error) {
        if (this.givenUp) return true;
        const deliveries = outcomes.length;
        this.logger.warn('delivery outcomes could not be stored', { deliveries, error: String(error) });
        if (!(error instanceof Unavailable)) refusals += 1;
        await sleep(RETRY_MS);
      }
    }
    return false;
  }

  /** One that is refused by itself keeps nobody waiting: its delivery goes out again, with the retries if that can be said. */
  private async putOff(outcome: Outcome): Promise<void> {
    const { deliveryId: delivery, hookId: hook_id, status } = outcome;
    const put_off = await this.outcomes.putOff(outcome).then(
      () => true,
      () => false,
    );
    const fields = { delivery, hook_id, status, put_off };
    this.logger.error('the outcome of a delivery could not be stored; it will be sent again', fields);
  }

  private async store(outcomes: readonly Outcome[]): Promise<void> {
    for (const { hookId, reason, deliveries } of await this.outcomes.record(outcomes)) {
      this.logger.warn(`webhook ${hookId} given up: ${WHY[reason]}`, { hook_id: hookId, reason });
      this.signal.queued(deliveries);
    }
  }
}
