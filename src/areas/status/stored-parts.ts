import { columnsOf } from '../../platform/database/entity-columns.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import { boolean, double, integer, nullable, text } from '../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../platform/database/statement.js';
import { type HealthPart, healthPart, namesOf } from './health-part.js';
import { FOLLOW_TIME, MAX_SKEW_MS } from './host-parts.js';
import { ReplicaEntity } from './replicas/replica.entity.js';

/** Three of its reports are missing: it ended without saying so. */
const SILENT_SECS = 35;

const REPLICAS = statement({
  name: 'health_parts.replicas',
  params: {},
  row: { ...columnsOf(ReplicaEntity, 'id', 'version', 'clockSkewMs'), silent_secs: double },
  sql: `
    SELECT id, version, clock_skew_ms, extract(epoch FROM now() - seen_at)::float8 AS silent_secs
    FROM replicas ORDER BY started_at, id LIMIT 1000`,
});
/** People who rely on a token notice its end; tokens made for a short time are meant to end. */
const TOKENS = statement({
  name: 'health_parts.tokens',
  params: {},
  row: { name: text, ended: nullable(boolean), endless: boolean, unused: boolean },
  sql: `
    SELECT name, (expires_at <= now()) AS ended, (expires_at IS NULL) AS endless,
      (coalesce(last_used_at, created_at) < now() - interval '30 days') AS unused
    FROM api_tokens WHERE revoked_at IS NULL AND (
      (expires_at BETWEEN now() - interval '1 day' AND now() + interval '7 days'
        AND expires_at - created_at > interval '14 days')
      OR (expires_at IS NULL AND '*' = ANY (scopes) AND user_id IS NULL AND agents IS NULL))
    ORDER BY expires_at, name LIMIT 1000`,
});
const TURNS = statement({
  name: 'health_parts.turns',
  replanned: true,
  params: {},
  row: {
    ...{ ended: integer, failed: integer, reason: nullable(text) },
    ...{ stuck: integer, stuck_secs: nullable(double) },
  },
  sql: `
    WITH lately AS (
      SELECT status, reason FROM turns WHERE created_at > now() - interval '15 minutes' AND ended_at IS NOT NULL
      ORDER BY created_at DESC, id DESC LIMIT 10000
    ), stuck AS (
      SELECT created_at FROM turns AS t WHERE status = 'waiting' AND created_at < now() - interval '30 seconds'
        AND NOT EXISTS (SELECT 1 FROM turns AS one WHERE one.session_id = t.session_id AND one.status = 'running')
        AND NOT EXISTS (SELECT 1 FROM turns AS one WHERE one.session_id = t.session_id AND one.status = 'awaiting_approval')
      ORDER BY created_at LIMIT 10000
    )
    SELECT (SELECT count(*)::int FROM lately) AS ended,
      (SELECT count(*)::int FROM lately WHERE status IN ('failed', 'interrupted')) AS failed,
      (SELECT mode() WITHIN GROUP (ORDER BY reason) FROM lately WHERE status IN ('failed', 'interrupted')) AS reason,
      (SELECT count(*)::int FROM stuck) AS stuck,
      (SELECT extract(epoch FROM now() - min(created_at))::float8 FROM stuck) AS stuck_secs`,
});
/** Fewer failures than this mean nothing; from this share of the turns on somebody should look. */
const FEW = 5;
const MANY = 0.2;

/** Which replicas serve, whether they run one version, and whether their clocks agree. */
export async function replicasPart(database: Pick<SqlRunner, 'query'>): Promise<HealthPart> {
  const all = await database.query(REPLICAS);
  const live = all.filter(({ silent_secs: secs }) => secs < SILENT_SECS);
  const skewed = live.filter(({ clock_skew_ms: skew }) => Math.abs(skew) > MAX_SKEW_MS);
  if (skewed.length > 0) {
    const named = namesOf(skewed.map(({ id, clock_skew_ms: skew }) => `${id} (${skew} ms)`));
    return healthPart(
      'replicas',
      'failing',
      `their clocks differ from the database's: ${named}`,
      FOLLOW_TIME,
    );
  }
  const versions = [...new Set(live.map(({ version }) => version))];
  if (versions.length > 1) {
    const each = versions.map(
      (one) => `${one} (${namesOf(live.filter(({ version }) => version === one).map(({ id }) => id))})`,
    );
    return healthPart(
      'replicas',
      'warning',
      `they run different versions: ${each.join(', ')}`,
      'While a version is rolled out that is as it should be; else restart the older ones.',
    );
  }
  const nobody = live.length === 0;
  const lost = all.filter(({ silent_secs: secs }) => secs >= SILENT_SECS);
  const count = nobody ? 'none serves' : `${live.length} of version ${versions[0]}`;
  if (nobody && lost.length === 0)
    return healthPart('replicas', 'warning', 'none says that it serves', 'Start one: "agent-gateway serve".');
  if (lost.length === 0) return healthPart('replicas', 'ok', count);
  const named = namesOf(lost.map(({ id, silent_secs: secs }) => `${id} (${minutes(secs)} ago)`));
  return healthPart(
    'replicas',
    'warning',
    `${count}; ended within the last hour without stopping: ${named}`,
    'Look at its last lines: it was killed, ran out of memory, or lost the database.',
  );
}

/** API tokens that end soon, and those that may do more, for longer, than any token should. */
export async function tokensPart(database: Pick<SqlRunner, 'query'>): Promise<HealthPart> {
  const rows = await database.query(TOKENS);
  const named = (those: (row: RowOfStatement<typeof TOKENS>) => boolean): string[] =>
    rows.filter(those).map(({ name }) => name);
  const ended = named(({ ended: isEnded }) => isEnded === true);
  const ending = named(({ ended: isEnded }) => isEnded === false);
  const unlimited = named(({ endless }) => endless);
  const unused = named(({ endless, unused: isUnused }) => endless && isUnused);
  const problems = [
    ...(ended.length > 0 ? [`expired within the last day: ${namesOf(ended)}`] : []),
    ...(ending.length > 0 ? [`expire within 7 days: ${namesOf(ending)}`] : []),
    ...(unused.length > 0
      ? [`may do everything, never expire and were not used for 30 days: ${namesOf(unused)}`]
      : []),
    ...(unlimited.length > 1 && unused.length === 0
      ? [`may do everything and never expire: ${namesOf(unlimited)}`]
      : []),
  ];
  if (problems.length === 0) return healthPart('tokens', 'ok', 'none expires within 7 days');
  const advice = [
    ...(ended.length + ending.length > 0
      ? ['Renew one that is still needed with "agent-gateway auth token rotate <name>".']
      : []),
    ...(unlimited.length > 1 || unused.length > 0
      ? [
          'Give people a preset and an end (auth token create --preset operator --expires-in 90d); revoke the rest.',
        ]
      : []),
  ];
  return healthPart('tokens', 'warning', problems.join('; '), advice.join(' '));
}

/** Whether turns end well, and whether messages wait although their session is free. */
export async function turnsPart(database: Pick<SqlRunner, 'query'>): Promise<HealthPart> {
  const [row] = await database.query(TURNS);
  const { ended = 0, failed = 0, reason = null, stuck = 0, stuck_secs: secs = 0 } = row ?? {};
  if (stuck > 0) {
    const detail = `${stuck} messages wait although their session is free, the oldest for ${minutes(secs ?? 0)}`;
    const advice = 'Raise limits.turns_per_replica or add replicas; where no replica serves, start one.';
    return healthPart('turns', 'warning', detail, advice);
  }
  const detail = `${failed} of the ${ended} that ended within the last 15 minutes failed`;
  if (failed < FEW || failed < ended * MANY) return healthPart('turns', 'ok', detail);
  const advice = 'Look at them with "agent-gateway sessions list" and "agent-gateway logs --level error".';
  return healthPart('turns', 'warning', `${detail}, most for ${reason ?? 'no stated reason'}`, advice);
}

function minutes(secs: number): string {
  return secs < 120 ? `${Math.round(secs)} s` : `${Math.round(secs / 60)} min`;
}
