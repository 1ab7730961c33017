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
  /** The beginning of an id, or a part of a user's id in whatever case. */
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
const ENDED_AT: Statement = {
  name: 'session_search.ended_at',
  text: 'SELECT ended_at FROM sessions WHERE id = $1',
};

/**
 * Finds sessions for operators, without counting them. A page walks the newest sessions, or those of a user, channel or
 * status, down its index until it is full.
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
    const { idleSecs, timeoutSecs } = limits;
    const found = new Conditions([idleSecs, timeoutSecs, ...LIST.after(query, filters), query.limit + 1])
      .add('user', user, 'user_id = :value')
      .add('channel', channel, 'channel = :value')
      .add('agent', agent, 'agent = :value')
      .add('since', since, 'created_at >= :value')
      .add('bound', caller.boundUserId ?? undefined, 'user_id = :value')
      .add('agents', caller.agents, 'agent = ANY (:value)')
      .add('text', text, '(starts_with(id, :value) OR strpos(lower(user_id), lower(:value)) > 0)');
    const rows = await this.database.query<FoundRow>(statementOf(status, found), found.values);
    return LIST.page(
      rows.map((row) => toFound(row, limits)),
      query,
      filters,
    );
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

function statementOf(status: SessionFilter['status'], found: Conditions): Statement {
  const after = ` AND (created_at, id) < ($3::timestamptz, $4)${found.text}`;
  const branches = BRANCHES[status].map(
    (where) => `(SELECT * FROM sessions WHERE ${where}${after} ${NEWEST_FIRST} LIMIT $5)`,
  );
  return {
    name: `session_search.${status}${found.name}`,
    replanned: true,
    text: `
      SELECT ${COLUMNS}, $1::float8 + $2::float8 AS silence FROM (${branches.join(' UNION ALL ')}) AS found
      ${NEWEST_FIRST} LIMIT $5`,
  };
}

function toFound(row: FoundRow, limits: IdleLimits): FoundSession {
  return { ...toSummary(row, limits), agent: row.agent, isRunning: row.running };
}
