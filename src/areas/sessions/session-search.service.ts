import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Conditions } from '../../platform/database/conditions.js';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { type SessionTurns, TurnDirectory } from '../turns/turns.api.js';
import {
  type Session,
  type SessionFilter,
  type SessionSummary,
  SUMMARY_COLUMNS,
  type SummaryRow,
  toSummary,
} from './session.js';
import { BRANCHES } from './session-list.sql.js';
import { type IdleLimits, idleLimits } from './session-status.js';
import { SessionsService } from './sessions.service.js';

/** What an operator looks for. */
export interface SessionQuery {
  /** The beginning of an id with `sess_`, else a part of a user's id in whatever case. */
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

/** A session with all that its turns came to. */
export interface SessionReport {
  readonly session: Session;
  /** The model that it names, else the first of its agent. */
  readonly model: string;
  readonly budget: ReturnType<SessionsService['budgetOf']>;
  readonly turns: SessionTurns;
  readonly endedAt: Date | null;
}

interface FoundRow extends SummaryRow {
  agent: string;
  running: boolean;
}

const LIST = new KeysetList<FoundSession>('sessions', ['time', 'text'], ({ createdAt, id }) => [
  createdAt,
  id,
]);
const COLUMNS = `${SUMMARY_COLUMNS}, agent, turn_owner IS NOT NULL AS running`;
const NEWEST_FIRST = 'ORDER BY created_at DESC, id DESC';
/** Sessions that one page looks at for a part of a user's id, which no index finds: a tenth of a second or so. */
const MAX_LOOKED_AT = 50_000;
const ID_PREFIX = 'sess_';
const ENDED_AT: Statement = {
  name: 'session_search.ended_at',
  text: 'SELECT ended_at FROM sessions WHERE id = $1',
};

/**
 * Finds sessions for operators, without counting them. A page walks the newest sessions, or those of a user, channel or
 * status, down its index until it is full, and for a part of a user's id until it has looked at 50,000: then it may be short,
 * and the next one goes on there.
 */
@Injectable()
export class SessionSearch {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly sessions: SessionsService,
    private readonly turns: TurnDirectory,
  ) {}

  /** Newest first. A `since` that is a duration means another moment with each page, so that no cursor belongs to it. */
  async list(
    { query: text, user, agent, channel, status = 'all', since, ...query }: PageQuery & SessionQuery,
    caller: Caller,
  ): Promise<Page<FoundSession>> {
    const filters = [text, user, agent, channel, status, caller.boundUserId, caller.agents?.join(',')];
    const limits = this.limits();
    const after = LIST.after(query, filters);
    const conditions = (most: number) =>
      new Conditions([limits.idleSecs, limits.timeoutSecs, ...after, most])
        .add('user', user, 'user_id = :value')
        .add('channel', channel, 'channel = :value')
        .add('agent', agent, 'agent = :value')
        .add('since', since, 'created_at >= :value')
        .add('bound', caller.boundUserId ?? undefined, 'user_id = :value')
        .add('agents', caller.agents, 'agent = ANY (:value)');
    const found = conditions(query.limit + 1);
    const end = isPartOfUser(text) ? await this.endOfLook(status, conditions(MAX_LOOKED_AT)) : undefined;
    if (isPartOfUser(text)) found.add('text', text, 'strpos(lower(user_id), lower(:value)) > 0');
    else found.add('id', text, 'id >= :value AND id < :value || chr(1114111)');
    found.add('end', end, '(created_at, id) >= ((:value::text[])[1]::timestamptz, (:value::text[])[2])');
    const rows = await this.database.query<FoundRow>(statementOf(status, found), found.values);
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
    looked: Conditions,
  ): Promise<readonly [string, string] | undefined> {
    const rows = await this.database.query<{ created_at: Date; id: string }>(
      endOf(status, looked),
      looked.values,
    );
    return rows[0] && [rows[0].created_at.toISOString(), rows[0].id];
  }

  /** Throws `SessionNotFound` also for a session that this caller may not see. */
  async report(id: string, caller: Caller): Promise<SessionReport> {
    const session = await this.sessions.find(id, caller);
    const [turns, rows] = await Promise.all([
      this.turns.ofSession(id),
      this.database.query<{ ended_at: Date | null }>(ENDED_AT, [id]),
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

/** The newest that meet the conditions, of each range of the status. */
function newest(columns: string, status: SessionFilter['status'], { text }: Conditions): string {
  const after = ` AND (created_at, id) < ($3::timestamptz, $4)${text}`;
  return BRANCHES[status]
    .map((where) => `(SELECT ${columns} FROM sessions WHERE ${where}${after} ${NEWEST_FIRST} LIMIT $5)`)
    .join(' UNION ALL ');
}

function statementOf(status: SessionFilter['status'], found: Conditions): Statement {
  return {
    name: `session_search.${status}${found.name}`,
    replanned: true,
    text: `
      SELECT ${COLUMNS}, $1::float8 + $2::float8 AS silence FROM (${newest('*', status, found)}) AS found
      ${NEWEST_FIRST} LIMIT $5`,
  };
}

function endOf(status: SessionFilter['status'], looked: Conditions): Statement {
  return {
    name: `session_search.end.${status}${looked.name}`,
    replanned: true,
    text: `
      SELECT created_at, id FROM (${newest('created_at, id', status, looked)}) AS looked
      WHERE $1::float8 + $2::float8 IS NOT NULL ${NEWEST_FIRST} OFFSET $5 - 1 LIMIT 1`,
  };
}

function toFound(row: FoundRow, limits: IdleLimits): FoundSession {
  return { ...toSummary(row, limits), agent: row.agent, isRunning: row.running };
}
