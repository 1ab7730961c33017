import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Database } from '../../platform/database/database.js';
import {
  arrayOf,
  bigint,
  boolean,
  double,
  nullable,
  optional,
  type ParamsOf,
  text,
  timestamp,
} from '../../platform/database/sql-types.js';
import {
  filtersGiven,
  type RowOfStatement,
  statement,
  statementsBy,
} from '../../platform/database/statement.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { type SessionTurns, TurnDirectory } from '../turns/turns.api.js';
import {
  type Session,
  type SessionFilter,
  type SessionSummary,
  SUMMARY_COLUMNS,
  SUMMARY_ROW,
  toSummary,
} from './session.js';
import { BRANCHES, byStatus } from './session-list.sql.js';
import { type IdleLimits, idleLimits } from './session-status.js';
import { SessionsService } from './sessions.service.js';

/** What an operator looks for. */
export interface SessionQuery {
  /** The beginning of an id with `sess_`, else a part of a user's id, in upper or lower case. */
  readonly query?: string | undefined;
  readonly user?: string | undefined;
  readonly agent?: string | undefined;
  readonly channel?: string | undefined;
  readonly status?: SessionFilter['status'] | undefined;
  /** Created since. */
  readonly since?: Date | undefined;
}

export interface FoundSession extends SessionSummary {
  readonly agent: string;
  /** Whether a turn runs in it. */
  readonly isRunning: boolean;
}

/** A session with the totals of its turns. */
export interface SessionReport {
  readonly session: Session;
  /** The model that it names, else the first of its agent. */
  readonly model: string;
  readonly budget: ReturnType<SessionsService['budgetOf']>;
  readonly turns: SessionTurns;
  readonly endedAt: Date | null;
}

const LIST = new KeysetList('sessions', ['time', 'text'], ({ createdAt, id }: FoundSession) => [
  createdAt,
  id,
]);
const COLUMNS = `${SUMMARY_COLUMNS}, agent, turn_owner IS NOT NULL AS running`;
const NEWEST_FIRST = 'ORDER BY created_at DESC, id DESC';
/** How many sessions one page reads for a part of a user's id, which no index finds: a tenth of a second or so. */
const MAX_LOOKED_AT = 50_000;
const ID_PREFIX = 'sess_';
const ENDED_AT = statement({
  name: 'session_search.ended_at',
  params: { id: text },
  row: { ended_at: nullable(timestamp) },
  sql: 'SELECT ended_at FROM sessions WHERE id = :id',
});

/** In the order in which they are named. */
const CONDITIONS = {
  user: 'user_id = :user',
  channel: 'channel = :channel',
  agent: 'agent = :agent',
  since: 'created_at >= :since',
  bound: 'user_id = :bound',
  agents: 'agent = ANY (:agents)',
  text: 'strpos(lower(user_id), lower(:text)) > 0',
  id: 'id >= :id AND id < :id || chr(1114111)',
  end: '(created_at, id) >= ((:end::text[])[1]::timestamptz, (:end::text[])[2])',
} as const;
type Filter = keyof typeof CONDITIONS;
/** The filters that decide which sessions a page reads; the others only choose among those. */
const LOOKED_AT = [
  'user',
  'channel',
  'agent',
  'since',
  'bound',
  'agents',
] as const satisfies readonly Filter[];
const LOOK_PARAMS = {
  ...{ idleSecs: double, timeoutSecs: double, afterTime: timestamp, afterId: text, most: bigint },
  ...{ user: optional(text), channel: optional(text), agent: optional(text), since: optional(timestamp) },
  ...{ bound: optional(text), agents: optional(arrayOf(text)) },
};
const FIND_PARAMS = {
  ...LOOK_PARAMS,
  ...{ text: optional(text), id: optional(text), end: optional(arrayOf(text)) },
};

/** The newest that meet the conditions, of each range of the status. */
function newest(columns: string, status: SessionFilter['status'], given: ReadonlySet<Filter>): string {
  const conditions = (Object.keys(CONDITIONS) as Filter[]).filter((filter) => given.has(filter));
  const after = [
    '(created_at, id) < (:afterTime::timestamptz, :afterId)',
    ...conditions.map((filter) => CONDITIONS[filter]),
  ];
  return BRANCHES[status]
    .map(
      (where) =>
        `(SELECT ${columns} FROM sessions WHERE ${[where, ...after].join(' AND ')} ${NEWEST_FIRST} LIMIT :most)`,
    )
    .join(' UNION ALL ');
}

const foundBy = (look: readonly Filter[]) =>
  byStatus((status) =>
    statementsBy([...LOOKED_AT, ...look], (given) => ({
      name: ['session_search', status, ...given].join('.'),
      replanned: true,
      params: FIND_PARAMS,
      row: { ...SUMMARY_ROW, agent: text, running: boolean, silence: double },
      sql: `
      SELECT ${COLUMNS}, :idleSecs::float8 + :timeoutSecs::float8 AS silence FROM (${newest('*', status, given)}) AS found
      ${NEWEST_FIRST} LIMIT :most`,
    })),
  );
const BY_ID = foundBy(['id']);
const BY_PART_OF_USER = foundBy(['text', 'end']);
/** The last of the sessions that a page looks at. */
const END_OF_LOOK = byStatus((status) =>
  statementsBy(LOOKED_AT, (given) => ({
    name: ['session_search.end', status, ...given].join('.'),
    replanned: true,
    params: LOOK_PARAMS,
    row: { created_at: timestamp, id: text },
    sql: `
      SELECT created_at, id FROM (${newest('created_at, id', status, given)}) AS looked
      WHERE :idleSecs::float8 + :timeoutSecs::float8 IS NOT NULL ${NEWEST_FIRST} OFFSET :most - 1 LIMIT 1`,
  })),
);

/**
 * Finds sessions for operators, without counting them. A page walks the newest sessions, or those of a user, channel or
 * status, down its index until it is full. For a part of a user's id it stops after 50,000: then the page may be short,
 * and the next one continues there.
 */
@Injectable()
export class SessionSearch {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly sessions: SessionsService,
    private readonly turns: TurnDirectory,
  ) {}

  /** Newest first. A `since` that is a duration means another moment for each page, so cursors do not depend on it. */
  async list(
    { query: text, user, agent, channel, status = 'all', since, ...query }: PageQuery & SessionQuery,
    caller: Caller,
  ): Promise<Page<FoundSession>> {
    const filters = [text, user, agent, channel, status, caller.boundUserId, caller.agents?.join(',')];
    const limits = this.limits();
    const [afterTime, afterId] = LIST.after(query, filters);
    const looked = {
      user,
      channel,
      agent,
      since,
      bound: caller.boundUserId ?? undefined,
      agents: caller.agents,
    };
    const [part, id] = isPartOfUser(text) ? [text] : [undefined, text];
    const given = { ...looked, ...limits, afterTime, afterId };
    const end = part === undefined ? undefined : await this.endOfLook(status, looked, given);
    const find =
      part === undefined
        ? BY_ID[status](filtersGiven({ ...looked, id }))
        : BY_PART_OF_USER[status](filtersGiven({ ...looked, text: part, end }));
    const rows = await this.database.query(find, {
      ...{ ...given, text: part, id, end, most: query.limit + 1 },
    });
    return LIST.page(
      rows.map((row) => toFound(row, limits)),
      query,
      filters,
      end,
    );
  }

  /** The last of the sessions that a page looks at; undefined when there are fewer. */
  private async endOfLook(
    status: SessionFilter['status'],
    looked: Readonly<Record<(typeof LOOKED_AT)[number], unknown>>,
    given: Omit<ParamsOf<typeof LOOK_PARAMS>, 'most'>,
  ): Promise<readonly [string, string] | undefined> {
    const [last] = await this.database.query(END_OF_LOOK[status](filtersGiven(looked)), {
      ...{ ...given, most: MAX_LOOKED_AT },
    });
    return last && [last.created_at.toISOString(), last.id];
  }

  /** Throws `SessionNotFound` also for a session that this caller may not see. */
  async report(id: string, caller: Caller): Promise<SessionReport> {
    const session = await this.sessions.find(id, caller);
    const [turns, rows] = await Promise.all([
      this.turns.ofSession(id),
      this.database.query(ENDED_AT, { id }),
    ]);
    return {
      session,
      turns,
      model: this.sessions.modelOf(session),
      budget: this.sessions.budgetOf(session),
      endedAt: rows[0]?.ended_at ?? null,
    };
  }

  private limits(): IdleLimits {
    return idleLimits(this.settings.current.agent);
  }
}

function isPartOfUser(text: string | undefined): text is string {
  return text !== undefined && !text.startsWith(ID_PREFIX);
}

function toFound(row: RowOfStatement<ReturnType<(typeof BY_ID)['all']>>, limits: IdleLimits): FoundSession {
  return { ...toSummary(row, limits), agent: row.agent, isRunning: row.running };
}
