import type { TypedStatement } from '../../platform/database/sql.js';
import { arrayOf, bigint, double, optional, orNull, text } from '../../platform/database/sql-types.js';
import { statementsBy } from '../../platform/database/statement.js';
import { SUMMARY_COLUMNS, SUMMARY_ROW } from './session.js';

/** What changes the text of a list statement; everything else is a parameter. */
export interface ListShape {
  readonly status: 'active' | 'idle' | 'terminated' | 'live' | 'all';
  readonly byChannel: boolean;
  readonly byUser: boolean;
  readonly byAgents: boolean;
  /** Whether the page is looked up by the hour of creation instead of walked to from the newest session. */
  readonly isDeep: boolean;
}

/** From this offset on, a page is looked up by the hour. */
const DEEP_OFFSET = 1000;

/** A list of one user's or some agents' sessions is always walked: no tally says how many they have in an hour. */
export function isDeep(
  offset: number,
  { byUser, byAgents }: Pick<ListShape, 'byUser' | 'byAgents'>,
): boolean {
  return offset >= DEEP_OFFSET && !byUser && !byAgents;
}

/**
 * They stand in sub-selects, where the planner cannot see their values. So it finds no plan that is cheaper than the generic one, and
 * PostgreSQL keeps that. Otherwise every call on a large table would be planned anew, which takes longer than the page.
 */
const IDLE_CUT = `(SELECT now() - make_interval(secs => :idleSecs))`;
const END_CUT = `(SELECT now() - make_interval(secs => :timeoutSecs))`;
const LIMIT = `(SELECT :most::int8)`;
const OFFSET = `(SELECT :offset::int8)`;

/**
 * Rows whose recorded status is out of date because of silence: few, because the sweeper follows within a second. The
 * planner expects a range with two ends to be narrow, even if one is infinite. For a range with one end it expects a third
 * of the table and starts parallel workers.
 */
const OVERDUE = {
  endedLive: `status IN ('active', 'idle') AND quiet_since > '-infinity' AND quiet_since <= ${END_CUT}`,
  quietActive: `status = 'active' AND quiet_since > '-infinity' AND quiet_since <= greatest(${IDLE_CUT}, ${END_CUT})`,
  idleActive: `status = 'active' AND quiet_since <= ${IDLE_CUT} AND quiet_since > ${END_CUT}`,
  endedIdle: `status = 'idle' AND quiet_since > '-infinity' AND quiet_since <= ${END_CUT}`,
} as const;

/** Which rows have a status: ranges of the index `(status, created_at)`, combined, by `idleSecs` and `timeoutSecs`. */
export const BRANCHES: Record<ListShape['status'], readonly string[]> = {
  all: ['true'],
  live: [`status = 'active' AND quiet_since > ${END_CUT}`, `status = 'idle' AND quiet_since > ${END_CUT}`],
  active: [`status = 'active' AND quiet_since > greatest(${IDLE_CUT}, ${END_CUT})`],
  idle: [`status = 'idle' AND quiet_since > ${END_CUT}`, OVERDUE.idleActive],
  terminated: [`status = 'terminated'`, OVERDUE.endedLive],
};

interface Correction {
  readonly sign: '+' | '-';
  readonly where: string;
}

/** Which recorded statuses are summed; `CORRECTIONS` says what silence adds to the sum or takes from it. */
const TALLIED: Record<ListShape['status'], readonly string[]> = {
  all: ['active', 'idle', 'terminated'],
  live: ['active', 'idle'],
  active: ['active'],
  idle: ['idle'],
  terminated: ['terminated'],
};
const CORRECTIONS: Record<ListShape['status'], readonly Correction[]> = {
  all: [],
  live: [{ sign: '-', where: OVERDUE.endedLive }],
  active: [{ sign: '-', where: OVERDUE.quietActive }],
  idle: [
    { sign: '+', where: OVERDUE.idleActive },
    { sign: '-', where: OVERDUE.endedIdle },
  ],
  terminated: [{ sign: '+', where: OVERDUE.endedLive }],
};

const NEWEST_FIRST = 'ORDER BY created_at DESC, id DESC';

/**
 * One statement for a page and its total, from one snapshot. The page is read in index order; the total comes from
 * the tally, so neither grows with the number of sessions. A list of one user's or some agents' sessions counts their rows.
 */
export function listStatement({
  status,
  isDeep,
  byChannel,
  byUser,
  byAgents,
}: ListShape): TypedStatement<typeof PARAMS, typeof ROW> {
  if (isDeep) return DEEP[status](byChannel ? ['channel'] : []);
  const given = [byChannel && 'channel', byUser && 'user', byAgents && 'agents'] as const;
  return NEAR[status](given.filter((filter) => filter !== false));
}

const PARAMS = {
  ...{ idleSecs: double, timeoutSecs: double, most: bigint, offset: bigint },
  ...{ channel: optional(text), user: optional(text), agents: optional(arrayOf(text)) },
};
/** Every row of the page carries the total; for an empty page there is one row with the total alone. */
const ROW = { total: double, ...orNull(SUMMARY_ROW) };
const STATUSES = ['all', 'live', 'active', 'idle', 'terminated'] as const;

const NEAR = byStatus((status) =>
  statementsBy(['channel', 'user', 'agents'], (given) => {
    const channel = given.has('channel') ? ' AND channel = :channel' : '';
    const user = given.has('user') ? ' AND user_id = :user' : '';
    const owner = user + (given.has('agents') ? ' AND agent = ANY (:agents::text[])' : '');
    const total = owner === '' ? talliedTotal(status, channel) : countedTotal(status, channel + owner);
    return {
      name: ['sessions.list', status, ...given].join('.'),
      params: PARAMS,
      row: ROW,
      sql: pageSql(total, nearPageSql(status, channel + owner)),
    };
  }),
);
/** Pages that begin far down the list. */
const DEEP = byStatus((status) =>
  statementsBy(['channel'], (given) => {
    const channel = given.has('channel') ? ' AND channel = :channel' : '';
    return {
      name: ['sessions.list', status, ...given, 'deep'].join('.'),
      params: PARAMS,
      row: ROW,
      sql: startSql(status, channel) + pageSql(talliedTotal(status, channel), deepPageSql(status, channel)),
    };
  }),
);

export function byStatus<Value>(
  make: (status: ListShape['status']) => Value,
): Record<ListShape['status'], Value> {
  return Object.fromEntries(STATUSES.map((status) => [status, make(status)])) as Record<
    ListShape['status'],
    Value
  >;
}

function pageSql(total: string, page: string): string {
  return `
      SELECT counted.total, page.*
      FROM (SELECT (${total})::float8 AS total, :idleSecs::float8 + :timeoutSecs::float8 AS _silence) AS counted
      LEFT JOIN LATERAL (
        ${page}
      ) AS page ON true
      ORDER BY page.created_at DESC, page.id DESC`;
}

function nearPageSql(status: ListShape['status'], filter: string): string {
  const branches = branchesSql('*', BRANCHES[status], filter, `${LIMIT} + ${OFFSET}`);
  return `SELECT ${SUMMARY_COLUMNS} FROM (${branches}) AS found ${NEWEST_FIRST} LIMIT ${LIMIT} OFFSET ${OFFSET}`;
}

/** The index alone tells which rows are on the page; only those are read. */
function deepPageSql(status: ListShape['status'], channel: string): string {
  const left = `(SELECT greatest(${OFFSET} - before, 0) FROM start)`;
  const hour = ` AND created_at < (SELECT to_timestamp((hour + 1) * 3600.0) FROM start)`;
  const branches = branchesSql('id, created_at', BRANCHES[status], hour + channel, `${LIMIT} + ${left}`);
  return `
    SELECT ${SUMMARY_COLUMNS} FROM sessions WHERE id = ANY (ARRAY(
      SELECT id FROM (${branches}) AS found ${NEWEST_FIRST} LIMIT ${LIMIT} OFFSET ${left}
    ))`;
}

function branchesSql(columns: string, wheres: readonly string[], filter: string, most: string): string {
  return wheres
    .map((where) => `(SELECT ${columns} FROM sessions WHERE ${where}${filter} ${NEWEST_FIRST} LIMIT ${most})`)
    .join(' UNION ALL ');
}

/** The hour of creation in which the page begins, and how many sessions of the list are newer than that hour. */
function startSql(status: ListShape['status'], channel: string): string {
  const tallied = `WHERE status IN (${statusesOf(status)})${channel}`;
  const corrections = CORRECTIONS[status].map(
    ({ sign, where }) =>
      ` UNION ALL SELECT floor(extract(epoch FROM created_at) / 3600)::integer, ${sign}1 FROM sessions
        WHERE ${where}${channel}`,
  );
  return `
    WITH hours AS (
      SELECT hour, sum(n) AS n FROM (
        SELECT hour, n FROM session_hours ${tallied}
        UNION ALL SELECT hour, n FROM session_tally ${tallied} AND hour IS NOT NULL
        ${corrections.join('')}
      ) AS counts GROUP BY hour
    ), start AS (
      SELECT hour, before FROM (
        SELECT hour, (sum(n) OVER (ORDER BY hour DESC) - n)::int8 AS before FROM hours
      ) AS newer WHERE before <= ${OFFSET} ORDER BY hour LIMIT 1
    )`;
}

function talliedTotal(status: ListShape['status'], channel: string): string {
  const tally = `coalesce((SELECT sum(n) FROM session_tally WHERE status IN (${statusesOf(status)})${channel}), 0)`;
  const corrections = CORRECTIONS[status].map(
    ({ sign, where }) => ` ${sign} (SELECT count(*) FROM sessions WHERE ${where}${channel})`,
  );
  return tally + corrections.join('');
}

function statusesOf(status: ListShape['status']): string {
  return TALLIED[status].map((word) => `'${word}'`).join(', ');
}

function countedTotal(status: ListShape['status'], owner: string): string {
  return BRANCHES[status]
    .map((where) => `(SELECT count(*) FROM sessions WHERE ${where}${owner})`)
    .join(' + ');
}
