import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import type { Statement } from '../database/sql.js';

const COLUMNS = 'id, at, level, module, message, session_id';
/** $1 the least level, $2 a module with everything below it, or null. */
const MATCHES = `level >= $1::smallint AND ($2::text IS NULL OR module = $2 OR starts_with(module, $2 || '::'))`;

export const APPEND: Statement = {
  name: 'logs.append',
  text: `SELECT append_log_lines($1, $2, $3::timestamptz[], $4::smallint[], $5::text[], $6::text[], $7::text[])`,
};

export const LIST: Statement = {
  name: 'logs.list',
  text: `
    SELECT counted.total, line.* FROM
      (SELECT count(*)::int AS total FROM log_entries WHERE at >= $3 AND ${MATCHES}) counted
      LEFT JOIN LATERAL (
        SELECT ${COLUMNS} FROM log_entries WHERE at >= $3 AND ${MATCHES} ORDER BY at DESC, id DESC LIMIT $4
      ) line ON true
    ORDER BY line.at, line.id`,
};

export const HEAD: Statement = { name: 'logs.head', text: 'SELECT last_id FROM log_head' };

export const NEXT: Statement = {
  name: 'logs.next',
  text: `
    SELECT head.last_id AS head, line.* FROM log_head head LEFT JOIN LATERAL (
      SELECT ${COLUMNS} FROM log_entries WHERE id > $1 ORDER BY id LIMIT $2
    ) line ON true ORDER BY line.id`,
};

export const PAGE: Statement = {
  name: 'logs.page',
  text: `
    SELECT kept.first_kept, line.* FROM
      (SELECT coalesce((SELECT min(id) FROM log_entries), (SELECT last_id + 1 FROM log_head)) AS first_kept) kept
      LEFT JOIN LATERAL (
        SELECT ${COLUMNS} FROM log_entries WHERE id > $3 AND id <= $4 AND ${MATCHES} ORDER BY id LIMIT $5
      ) line ON true
    ORDER BY line.id`,
};

export const BACKLOG: Statement = {
  name: 'logs.backlog',
  text: `
    SELECT min(id) - 1 AS cursor FROM (
      SELECT id FROM log_entries WHERE at >= $3 AND id <= $4 AND ${MATCHES} ORDER BY id DESC LIMIT $5
    ) newest`,
};

/**
 * One replica at a time may delete. Only ever the lowest numbers, so that what is kept has no holes: those before the
 * oldest line that is young enough (one from the future, of a wrong clock, does not count as young), and those too many.
 */
export const TRIM: Statement = {
  name: 'logs.trim',
  text: `
    WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.trimmingLogs}) AS mine),
    young AS (
      SELECT id FROM log_entries WHERE at BETWEEN now() - make_interval(days => $1) AND now() + interval '1 hour'
      ORDER BY id LIMIT 1
    ),
    edge AS (
      SELECT greatest(coalesce((SELECT id FROM young), last_id + 1), last_id + 1 - $2::bigint) AS first FROM log_head
    ),
    gone AS (
      DELETE FROM log_entries WHERE id IN (
        SELECT entry.id FROM log_entries entry, edge, turn WHERE turn.mine AND entry.id < edge.first
        ORDER BY entry.id LIMIT $3
      ) RETURNING 1
    ),
    forgotten AS (
      DELETE FROM log_writers WHERE wrote_at < now() - interval '1 day' AND (SELECT mine FROM turn)
    )
    SELECT count(*)::int AS gone FROM gone`,
};
