import type { Statement } from '../database/sql.js';
import { SUMMARY_COLUMNS } from './session-row.js';

/** Everything that changes the text of a list statement; its values are parameters. */
export interface ListShape {
  readonly status: 'active' | 'idle' | 'terminated' | 'live' | 'all';
  readonly byChannel: boolean;
  readonly byUser: boolean;
}

/** `$1` idle seconds, `$2` time-out seconds, `$3` limit, `$4` offset, then the channel, then the user. */
const IDLE_CUT = `(now() - make_interval(secs => $1))`;
const END_CUT = `(now() - make_interval(secs => $2))`;

/** Rows whose recorded status has been overtaken by silence: few, because the sweeper follows within a second. */
const OVERDUE = {
  endedLive: `status IN ('active', 'idle') AND quiet_since <= ${END_CUT}`,
  quietActive: `status = 'active' AND quiet_since <= greatest(${IDLE_CUT}, ${END_CUT})`,
  idleActive: `status = 'active' AND quiet_since <= ${IDLE_CUT} AND quiet_since > ${END_CUT}`,
  endedIdle: `status = 'idle' AND quiet_since <= ${END_CUT}`,
} as const;

/** Which rows are of a status: ranges of the index `(status, created_at)`, put together. */
const BRANCHES: Record<ListShape['status'], readonly string[]> = {
  all: ['true'],
  live: [`status = 'active' AND quiet_since > ${END_CUT}`, `status = 'idle' AND quiet_since > ${END_CUT}`],
  active: [`status = 'active' AND quiet_since > greatest(${IDLE_CUT}, ${END_CUT})`],
  idle: [`status = 'idle' AND quiet_since > ${END_CUT}`, OVERDUE.idleActive],
  terminated: [`status = 'terminated'`, OVERDUE.endedLive],
};

/** The tally of recorded statuses, and what silence adds to it or takes from it. */
const TALLIED: Record<ListShape['status'], readonly string[]> = {
  all: ['active', 'idle', 'terminated'],
  live: ['active', 'idle'],
  active: ['active'],
  idle: ['idle'],
  terminated: ['terminated'],
};
const CORRECTIONS: Record<ListShape['status'], readonly { sign: '+' | '-'; where: string }[]> = {
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
 * the tally, so neither grows with the number of sessions. A list of one user's sessions counts that user's rows.
 */
export function listStatement(shape: ListShape): Statement {
  const channel = shape.byChannel ? ' AND channel = $5' : '';
  const user = shape.byUser ? ` AND user_id = $${shape.byChannel ? 6 : 5}` : '';
  const branches = BRANCHES[shape.status].map(
    (where) =>
      `(SELECT * FROM sessions WHERE ${where}${channel}${user} ${NEWEST_FIRST} LIMIT $3::int8 + $4::int8)`,
  );
  const total = shape.byUser ? countedTotal(shape, channel + user) : talliedTotal(shape, channel);
  return {
    name: `sessions.list.${shape.status}${shape.byChannel ? '.channel' : ''}${shape.byUser ? '.user' : ''}`,
    text: `
      SELECT counted.total, page.*
      FROM (SELECT (${total})::float8 AS total, $1::float8 + $2::float8 AS _silence) AS counted
      LEFT JOIN LATERAL (
        SELECT ${SUMMARY_COLUMNS} FROM (${branches.join(' UNION ALL ')}) AS found
        ${NEWEST_FIRST} LIMIT $3::int8 OFFSET $4::int8
      ) AS page ON true
      ORDER BY page.created_at DESC, page.id DESC`,
  };
}

function talliedTotal(shape: ListShape, channel: string): string {
  const statuses = TALLIED[shape.status].map((status) => `'${status}'`).join(', ');
  const tally = `coalesce((SELECT sum(n) FROM session_tally WHERE status IN (${statuses})${channel}), 0)`;
  const corrections = CORRECTIONS[shape.status].map(
    ({ sign, where }) => ` ${sign} (SELECT count(*) FROM sessions WHERE ${where}${channel})`,
  );
  return tally + corrections.join('');
}

function countedTotal(shape: ListShape, owner: string): string {
  return BRANCHES[shape.status]
    .map((where) => `(SELECT count(*) FROM sessions WHERE ${where}${owner})`)
    .join(' + ');
}
