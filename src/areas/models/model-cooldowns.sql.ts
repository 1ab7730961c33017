import { columnsOf } from '../../platform/database/entity-columns.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import { double, integer, json, nullable, text } from '../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../platform/database/statement.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { dueQuestion } from '../../platform/runtime/due-question.js';
import { ModelCooldownEntity } from './model-cooldown.entity.js';

/** Stores a failure for all replicas, and emits an event when another model takes over. */
export const KEEP = statement({
  name: 'model_cooldowns.keep',
  params: {
    ...{ provider: text, model: text, reason: text, secs: double },
    ...{ nextProvider: nullable(text), nextModel: nullable(text) },
    ...{ user: text, agent: text, session: text, turn: text },
  },
  row: { deliveries: integer },
  sql: `
    WITH kept AS (
      INSERT INTO model_cooldowns AS known (provider, model, reason, failed_at, until)
      VALUES (:provider, :model, :reason, now(), now() + make_interval(secs => :secs))
      ON CONFLICT (provider, model) DO UPDATE
        SET reason = excluded.reason, failed_at = excluded.failed_at, until = greatest(known.until, excluded.until)
      RETURNING provider, model, reason
    )
    SELECT CASE WHEN :nextProvider::text IS NULL THEN 0 ELSE ${emitSql(
      'provider.failed_over',
      ':user::text',
      {
        provider: 'provider',
        model: 'model',
        reason: 'reason',
        next_provider: ':nextProvider::text',
        next_model: ':nextModel::text',
        agent: ':agent::text',
        session_id: ':session::text',
        turn_id: ':turn::text',
      },
    )} END AS deliveries FROM kept`,
});
export const FORGET = statement({
  name: 'model_cooldowns.forget',
  params: { provider: text, model: text },
  row: {},
  sql: 'DELETE FROM model_cooldowns WHERE provider = :provider AND model = :model',
});
/** Provider, model, reason, how many milliseconds are left, and how many seconds ago it failed. */
export type CoolingModel = readonly [string, string, string, number, number];
/** Includes models that are asked again, as long as the failure is worth showing: none of them has answered since. */
export const COOLING = dueQuestion({
  name: 'model_cooldowns',
  params: {},
  answer: nullable(json<readonly CoolingModel[]>()),
  sql: `(SELECT json_agg(json_build_array(provider, model, reason,
    (extract(epoch FROM until - now()) * 1000)::float8, (extract(epoch FROM now() - failed_at))::float8))
    FROM model_cooldowns WHERE greatest(until, failed_at + interval '15 minutes') > now())`,
});

const NOW = statement({
  name: 'model_cooldowns.now',
  params: {},
  row: columnsOf(ModelCooldownEntity, 'provider', 'model', 'reason'),
  sql: 'SELECT provider, model, reason FROM model_cooldowns WHERE until > now()',
});

/** The models that are skipped at the moment, and why. */
export function coolingModels(runner: SqlRunner): Promise<readonly RowOfStatement<typeof NOW>[]> {
  return runner.query(NOW);
}
