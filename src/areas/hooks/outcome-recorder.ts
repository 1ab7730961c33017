import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../common/errors/gateway-error.js';
import { EventSignal } from '../../platform/events/event-signal.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import type { GivenUpReason } from './hook.js';
import type { Outcome } from './outcome.js';
import { OutcomeStore } from './outcome.store.js';

/** Delay before the first batch, to gather more outcomes. */
const GATHER_MS = 2;
/** Delay before the next batch under load: half as many statements cost the database a third less per outcome. */
const GATHER_MORE_MS = 10;
const RETRY_MS = 500;
const MAX_AT_ONCE = 1000;
/** How often a batch is tried as a whole when the database refuses it; an unreachable database does not count. */
const MAX_REFUSALS = 3;

/** Why a webhook was given up, for log lines. */
const WHY: Readonly<Record<GivenUpReason, string>> = {
  gone: 'its receiver answered 410',
  failing: 'nothing but failures for five days',
};

interface Waiting {
  readonly outcome: Outcome;
  readonly done: () => void;
}

/**
 * Stores outcomes in batches, one batch at a time. Its queue is bounded by its callers: a lane claims more only when its
 * outcomes are stored.
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
   * Resolves when the outcome is stored, or when the database refuses it for good; the delivery is then sent again. Retries
   * while the database is unreachable, until `giveUp`.
   */
  record(outcome: Outcome): Promise<void> {
    this.metrics.count(outcome);
    return new Promise((done) => {
      this.waiting.push({ outcome, done });
      if (!this.isWriting) void this.write();
    });
  }

  /** Stops retrying; deliveries whose outcome is not stored are sent again by the next owner. */
  giveUp(): void {
    this.givenUp = true;
  }

  /** Ends in the same step in which the queue is empty, so that the next outcome starts a new run. */
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

  /** If the database refuses a batch, each outcome is tried alone. */
  private async writeBatch(outcomes: readonly Outcome[]): Promise<void> {
    if (await this.isWritten(outcomes, MAX_REFUSALS)) return;
    for (const outcome of outcomes) if (!(await this.isWritten([outcome], 1))) await this.putOff(outcome);
  }

  /** False after `maxRefusals` refusals by the database; failures to reach it do not count. */
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

  /** A refused outcome blocks no other: its delivery is sent again, as a retry if that can be stored. */
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
