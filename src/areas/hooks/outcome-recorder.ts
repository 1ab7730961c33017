import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../common/errors/gateway-error.js';
import { Database } from '../../platform/database/database.js';
import {
  arrayOf,
  bigint,
  double,
  integer,
  nullable,
  oneOf,
  text,
} from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { EventSignal } from '../../platform/events/event.store.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import type { DeliveryStatus, Outcome } from './delivery.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import type { GivenUpReason } from './hook.js';

/** A hook is given up after this long with nothing but failures. */
const GRACE_PERIOD = `interval '5 days'`;

const GIVEN_UP = emitSql('error.occurred', 'user_id', {
  source: `'hook'`,
  reason: `'hook_' || inactive_reason`,
  hook_id: 'id',
});

/**
 * Stores attempts, the health of their hooks, and which hooks are given up, with the event that says so: all or nothing.
 * Lanes are locked in one order, so that two replicas that report on the same hooks do not deadlock.
 */
const RECORD = statement({
  name: 'hook_outcomes.record',
  params: {
    deliveries: arrayOf(bigint),
    hooks: arrayOf(text),
    statuses: arrayOf(oneOf<DeliveryStatus>()),
    http_statuses: arrayOf(nullable(integer)),
    errors: arrayOf(nullable(text)),
    delays: arrayOf(nullable(double)),
    gone: arrayOf(integer),
  },
  row: { id: text, inactive_reason: oneOf<GivenUpReason>(), deliveries: integer },
  replanned: true,
  sql: `
    WITH outcome AS (
      SELECT * FROM unnest(:deliveries::int8[], :hooks::text[], :statuses::text[], :http_statuses::int4[],
        :errors::text[], :delays::float8[], :gone::int4[]) AS o (id, hook_id, status, http_status, error, delay_secs, gone)
    ), moved AS (
      UPDATE hook_deliveries AS d SET
        status = o.status, attempts = d.attempts + 1, last_attempt_at = now(), last_status = o.http_status,
        last_error = o.error, next_attempt_at = now() + make_interval(secs => o.delay_secs),
        done_at = CASE WHEN o.status <> 'pending' THEN now() END
      FROM outcome AS o WHERE d.id = o.id AND d.status = 'pending'
    ), health AS (
      SELECT hook_id, bool_or(status = 'delivered') AS worked, bool_or(gone = 1) AS gone
      FROM outcome GROUP BY hook_id
    ), changing AS (
      SELECT l.hook_id, l.failing_since, health.worked, health.gone
      FROM hook_lanes AS l JOIN health ON health.hook_id = l.hook_id
      WHERE CASE WHEN worked THEN failing_since IS NOT NULL OR gone
        ELSE failing_since IS NULL OR gone OR failing_since < now() - ${GRACE_PERIOD} END
      ORDER BY l.hook_id FOR UPDATE OF l
    ), marked AS (
      UPDATE hook_lanes AS l
      SET failing_since = CASE WHEN NOT changing.worked THEN coalesce(l.failing_since, now()) END
      FROM changing WHERE l.hook_id = changing.hook_id
    ), given_up AS (
      UPDATE hooks AS h SET active = false, inactive_reason = CASE WHEN changing.gone THEN 'gone' ELSE 'failing' END
      FROM changing WHERE h.id = changing.hook_id AND h.active
        AND (changing.gone OR (NOT changing.worked AND changing.failing_since < now() - ${GRACE_PERIOD}))
      RETURNING h.id, h.user_id, h.inactive_reason, h.message_id
    )
    SELECT id, inactive_reason, CASE WHEN message_id IS NULL THEN ${GIVEN_UP} ELSE 0 END AS deliveries FROM given_up`,
});

/** Counts an attempt whose outcome cannot be stored. The next one is a retry, five minutes later. */
const PUT_OFF = statement({
  name: 'hook_outcomes.put_off',
  params: { delivery: bigint },
  row: {},
  sql: `
    UPDATE hook_deliveries SET attempts = attempts + 1, last_attempt_at = now(), last_status = NULL,
      last_error = 'not_recorded', next_attempt_at = now() + interval '5 minutes'
    WHERE id = :delivery AND status = 'pending'`,
});

interface GivenUp {
  readonly hookId: string;
  readonly reason: GivenUpReason;
  /** How many deliveries announce it to other hooks. */
  readonly deliveries: number;
}

/** Stores the outcomes of attempts. */
@Injectable()
export class OutcomeStore {
  constructor(private readonly database: Database) {}

  /** @returns the hooks that are given up because of these outcomes */
  async record(outcomes: readonly Outcome[]): Promise<GivenUp[]> {
    const rows = await this.database.query(RECORD, {
      deliveries: outcomes.map(({ deliveryId }) => deliveryId),
      hooks: outcomes.map(({ hookId }) => hookId),
      statuses: outcomes.map(({ status }) => status),
      http_statuses: outcomes.map(({ httpStatus }) => httpStatus),
      errors: outcomes.map(({ error }) => error),
      delays: outcomes.map(({ delaySecs }) => delaySecs),
      gone: outcomes.map(({ gone }) => Number(gone)),
    });
    return rows.map(({ id, inactive_reason: reason, deliveries }) => ({ hookId: id, reason, deliveries }));
  }

  /** For an outcome that cannot be stored: the delivery is attempted again, but not at once. */
  async putOff({ deliveryId }: Outcome): Promise<void> {
    await this.database.query(PUT_OFF, { delivery: deliveryId });
  }
}

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
