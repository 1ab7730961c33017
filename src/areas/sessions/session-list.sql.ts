import type { Statement } from '../../platform/database/sql.js';
import { SUMMARY_COLUMNS } from './session.js';

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
 * `$1` idle seconds, `$2` time-out seconds, `$3` limit, `$4` offset, then the channel, the user and the agents. They stand in
 * sub-selects, where the planner cannot see their values. So it finds no plan that is cheaper than the generic one, and
 * PostgreSQL keeps that. Otherwise every call on a large table would be planned anew, which takes longer than the page.
 */
const IDLE_CUT = `(SELECT now() - make_interval(secs => $1))`;
const END_CUT = `(SELECT now() - make_interval(secs => $2))`;
const LIMIT = `(SELECT $3::int8)`;
const OFFSET = `(SELECT $4::int8)`;

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

/** Which rows have a status: ranges of the index `(status, created_at)`, combined; `$1` idle seconds, `$2` time-out seconds. */
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
export function listStatement(shape: ListShape): Statement {
  const channel = shape.byChannel ? ' AND channel = $5' : '';
  const owner = ownerSql(shape, shape.byChannel ? 6 : 5);
  const total = owner === '' ? talliedTotal(shape, channel) : countedTotal(shape, channel + owner);
  const beside = [
    ...[shape.byChannel && '.channel', shape.byUser && '.user'],
    ...[shape.byAgents && '.agents', shape.isDeep && '.deep'],
  ];
  return {
    name: ['sessions.list.', shape.status, ...beside.filter(Boolean)].join(''),
    text: `
      ${shape.isDeep ? startSql(shape.status, channel) : ''}
      SELECT counted.total, page.*
      FROM (SELECT (${total})::float8 AS total, $1::float8 + $2::float8 AS _silence) AS counted
      LEFT JOIN LATERAL (
        ${shape.isDeep ? deepPageSql(shape.status, channel) : nearPageSql(shape.status, channel + owner)}
      ) AS page ON true
      ORDER BY page.created_at DESC, page.id DESC`,
  };
}

/** Whose sessions; the parameters begin with this number. */
function ownerSql({ byUser, byAgents }: ListShape, first: number): string {
  const user = byUser ? ` AND user_id = $${first}` : '';
  return byAgents ? `${user} AND agent = ANY ($${byUser ? first + 1 : first}::text[])` : user;
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

function talliedTotal({ status }: ListShape, channel: string): string {
  const tally = `coalesce((SELECT sum(n) FROM session_tally WHERE status IN (${statusesOf(status)})${channel}), 0)`;
  const corrections = CORRECTIONS[status].map(
    ({ sign, where }) => ` ${sign} (SELECT count(*) FROM sessions WHERE ${where}${channel})`,
  );
  return tally + corrections.join('');
}

function statusesOf(status: ListShape['status']): string {
  return TALLIED[status].map((word) => `'${word}'`).join(', ');
}

function countedTotal(shape: ListShape, owner: string): string {
  return BRANCHES[shape.status]
    .map((where) => `(SELECT count(*) FROM sessions WHERE ${where}${owner})`)
    .join(' + ');
}
