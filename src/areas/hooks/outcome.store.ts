import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import type { GivenUpReason } from './hook.js';
import type { Outcome } from './outcome.js';

/** After so long with nothing but failures a hook is given up. */
const GRACE_PERIOD = `interval '5 days'`;

const GIVEN_UP = emitSql('error.occurred', 'user_id', {
  source: `'hook'`,
  reason: `'hook_' || inactive_reason`,
  hook_id: 'id',
});

/**
 * Attempts, the health of their hooks, and hooks given up, with the event that says so: all or nothing. Lanes are locked
 * in one order, so that two replicas that report on the same hooks do not wait for each other.
 */
const RECORD: Statement = {
  name: 'hook_outcomes.record',
  replanned: true,
  text: `
    WITH outcome AS (
      SELECT * FROM unnest($1::int8[], $2::text[], $3::text[], $4::int4[], $5::text[], $6::float8[], $7::int4[])
        AS o (id, hook_id, status, http_status, error, delay_secs, gone)
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
      RETURNING h.id, h.user_id, h.inactive_reason
    )
    SELECT id, inactive_reason, ${GIVEN_UP} AS deliveries FROM given_up`,
};

/** An attempt of which nothing more can be said: the next one is a retry, some minutes later. */
const PUT_OFF: Statement = {
  name: 'hook_outcomes.put_off',
  text: `
    UPDATE hook_deliveries SET attempts = attempts + 1, last_attempt_at = now(), last_status = NULL,
      last_error = 'not_recorded', next_attempt_at = now() + interval '5 minutes'
    WHERE id = $1 AND status = 'pending'`,
};

export interface GivenUp {
  readonly hookId: string;
  readonly reason: GivenUpReason;
  /** How many other hooks will hear of it. */
  readonly deliveries: number;
}

/** Writes down what attempts came to. */
@Injectable()
export class OutcomeStore {
  constructor(private readonly database: Database) {}

  /** @returns the hooks that are given up because of them */
  async record(outcomes: readonly Outcome[]): Promise<GivenUp[]> {
    const rows = await this.database.query<{
      id: string;
      inactive_reason: GivenUpReason;
      deliveries: number;
    }>(RECORD, [
      outcomes.map(({ deliveryId }) => deliveryId),
      outcomes.map(({ hookId }) => hookId),
      outcomes.map(({ status }) => status),
      outcomes.map(({ httpStatus }) => httpStatus),
      outcomes.map(({ error }) => error),
      outcomes.map(({ delaySecs }) => delaySecs),
      outcomes.map(({ gone }) => Number(gone)),
    ]);
    return rows.map(({ id, inactive_reason: reason, deliveries }) => ({ hookId: id, reason, deliveries }));
  }

  /** For an outcome that cannot be recorded: it is attempted again, not at once. */
  async putOff({ deliveryId }: Outcome): Promise<void> {
    await this.database.query(PUT_OFF, [deliveryId]);
  }
}
