import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import type { OnCommit, SqlRunner } from '../../platform/database/sql.js';
import {
  bigint,
  boolean,
  double,
  integer,
  json,
  jsonb,
  nullable,
  text,
} from '../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../platform/database/statement.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { EventSignal } from '../../platform/events/event.store.js';
import { SessionEntity } from './session.entity.js';
import {
  type Metadata,
  type NewSession,
  type Page,
  SESSION_COLUMNS,
  SESSION_ROW,
  type Session,
  type SessionFilter,
  type SessionPage,
  type SummaryRow,
  toSession,
  toSummary,
} from './session.js';
import { isDeep, listStatement } from './session-list.sql.js';
import type { IdleLimits } from './session-status.js';

/** What every event says about its session. */
const SESSION_FACTS = { session_id: 'id', channel: 'channel', user_id: 'user_id' };

const INSERT = statement({
  name: 'sessions.insert_for_agent',
  params: {
    ...{ id: text, channel: text, user: text, systemPrompt: nullable(text), model: nullable(text) },
    ...{ metadata: json<Metadata>(), namesUser: boolean, agent: text },
  },
  row: { ...columnsOf(SessionEntity, 'createdAt'), deliveries: integer },
  sql: `
    WITH created AS (
      INSERT INTO sessions (id, channel, user_id, names_user, status, system_prompt, model, metadata, agent)
      VALUES (:id, :channel, :user, :namesUser, 'active', :systemPrompt, :model, :metadata, :agent) RETURNING id, channel, user_id, created_at
    )
    SELECT created_at, ${emitSql('session.created', 'user_id', SESSION_FACTS)} AS deliveries FROM created`,
});
const FIND = statement({
  name: 'sessions.find',
  params: { id: text },
  row: SESSION_ROW,
  sql: `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = :id`,
});
const END = statement({
  name: 'sessions.end',
  params: { id: text, timeoutSecs: double, origin: jsonb<unknown>() },
  row: { deliveries: integer },
  sql: `
    WITH ended AS (
      UPDATE sessions SET status = 'terminated', ended_at = now()
      WHERE id = :id AND status <> 'terminated' AND quiet_since > now() - make_interval(secs => :timeoutSecs)
      RETURNING id, channel, user_id
    ), audited AS (${auditedSql({ action: 'session.ended', subject: 'id', session: 'id', origin: ':origin', from: 'ended' })})
    SELECT ${emitSql('session.terminated', 'user_id', { ...SESSION_FACTS, reason: `'deleted'` })} AS deliveries FROM ended`,
});
/** Both are SQL. */
const inactive = (idleSecs: string, timeoutSecs: string): string => `
      (status = 'active' AND quiet_since <= now() - make_interval(secs => least(${idleSecs}::float8, ${timeoutSecs}::float8)))
         OR (status = 'idle' AND quiet_since <= now() - make_interval(secs => ${timeoutSecs}))`;
/** Whether there is silence to record. Both are SQL. */
export const anyInactive = (idleSecs: string, timeoutSecs: string): string =>
  `EXISTS (SELECT 1 FROM sessions WHERE ${inactive(idleSecs, timeoutSecs)})`;
/** Records silence; skips rows that are locked. */
const SWEEP = statement({
  name: 'sessions.sweep',
  params: { idleSecs: double, timeoutSecs: double, most: bigint },
  row: { ...columnsOf(SessionEntity, 'id', 'channel'), ended: boolean, deliveries: integer },
  sql: `
    WITH due AS (
      SELECT id, quiet_since <= now() - make_interval(secs => :timeoutSecs) AS ended FROM sessions
      WHERE ${inactive(':idleSecs', ':timeoutSecs')}
      LIMIT :most FOR UPDATE SKIP LOCKED
    ), swept AS (
      UPDATE sessions SET
        status = CASE WHEN due.ended THEN 'terminated' ELSE 'idle' END,
        ended_at = CASE WHEN due.ended THEN sessions.quiet_since + make_interval(secs => :timeoutSecs) END
      FROM due WHERE sessions.id = due.id RETURNING sessions.id, sessions.channel, sessions.user_id, due.ended
    )
    SELECT id, channel, ended, CASE
      WHEN ended THEN ${emitSql('session.terminated', 'user_id', { ...SESSION_FACTS, reason: `'timeout'` })}
      ELSE ${emitSql('session.idle', 'user_id', SESSION_FACTS)}
    END AS deliveries FROM swept`,
});
/** Folds the tally into one row for each counter; a trigger adds what belongs to the hours. Readers see the same sums before and after. */
const FOLD_TALLY = statement({
  name: 'sessions.fold_tally',
  params: {},
  row: {},
  sql: `
    WITH gone AS (DELETE FROM session_tally RETURNING channel, status, n)
    INSERT INTO session_tally (channel, status, n) SELECT channel, status, sum(n) FROM gone GROUP BY channel, status`,
});
const EMPTY_HOURS = statement({
  name: 'sessions.empty_hours',
  params: {},
  row: {},
  sql: 'DELETE FROM session_hours WHERE n = 0',
});
/** The number of rows in the tally. */
export const TALLY_ROWS = '(SELECT count(*) FROM session_tally)';
const TALLY_SIZE = statement({
  name: 'sessions.tally_size',
  params: {},
  row: { rows: integer },
  sql: 'SELECT count(*)::int AS rows FROM session_tally',
});

/** The statements of sessions. */
@Injectable()
export class SessionStore {
  constructor(
    private readonly database: Database,
    private readonly signal: EventSignal,
  ) {}

  /** What `onCommit` writes is committed together with the session. */
  async insert(session: NewSession, onCommit?: OnCommit<Session>): Promise<Session> {
    const { created, deliveries } = await this.database.change(
      (runner) => insertOn(runner, session),
      onCommit && ((runner, { created }) => onCommit(runner, created)),
    );
    this.signal.queued(deliveries);
    return created;
  }

  async find(id: string, limits: IdleLimits): Promise<Session | undefined> {
    const [row] = await this.database.query(FIND, { id });
    return row && toSession(row, limits);
  }

  async list(filter: SessionFilter, page: Page, limits: IdleLimits): Promise<SessionPage> {
    const { status, channel, userId, agents } = filter;
    const whose = { byUser: userId !== undefined, byAgents: agents !== undefined };
    const shape = { status, byChannel: channel !== undefined, ...whose, isDeep: isDeep(page.offset, whose) };
    const rows = await this.database.query(listStatement(shape), {
      ...{ idleSecs: limits.idleSecs, timeoutSecs: limits.timeoutSecs },
      ...{ most: page.limit, offset: page.offset, channel, user: userId, agents },
    });
    const found = rows.filter(isSession).map((row) => toSummary(row, limits));
    return { sessions: found, total: rows[0]?.total ?? 0 };
  }

  /** False when the session has ended already, or does not exist. */
  async end(id: string, limits: IdleLimits): Promise<boolean> {
    const [ended] = await this.database.query(END, {
      id,
      timeoutSecs: limits.timeoutSecs,
      origin: originJson(),
    });
    this.signal.queued(ended?.deliveries);
    return ended !== undefined;
  }

  /**
   * Records what silence has done, for at most `most` sessions.
   * @returns those that changed
   */
  async recordInactivity(limits: IdleLimits, most: number): Promise<readonly InactiveSession[]> {
    const swept = await this.database.query(SWEEP, {
      idleSecs: limits.idleSecs,
      timeoutSecs: limits.timeoutSecs,
      most,
    });
    this.signal.queued(swept.reduce((sum, { deliveries }) => sum + deliveries, 0));
    return swept;
  }

  /** Keeps the tally short. When two replicas fold at once no count is lost: the second finds the rows gone. */
  async foldTally(whenOver: number): Promise<void> {
    const [size] = await this.database.query(TALLY_SIZE);
    if ((size?.rows ?? 0) <= whenOver) return;
    await this.database.query(FOLD_TALLY);
    await this.database.query(EMPTY_HOURS);
  }
}

/** A session whose silence was written down: it is idle now, or it has ended. */
export type InactiveSession = RowOfStatement<typeof SWEEP>;

/** Every row of the page carries the total; for an empty page there is one row with the total alone. */
type PageRow = RowOfStatement<ReturnType<typeof listStatement>>;

function isSession(row: PageRow): row is PageRow & SummaryRow {
  return row.id !== null;
}

async function insertOn(
  runner: SqlRunner,
  session: NewSession,
): Promise<{ readonly created: Session; readonly deliveries: number }> {
  const id = newId('sess');
  const { channel, userId, namesUser, systemPrompt, model, metadata, agent } = session;
  const [row] = await runner.query(INSERT, {
    ...{
      id,
      channel,
      user: userId,
      systemPrompt,
      model,
      metadata: JSON.stringify(metadata),
      namesUser,
      agent,
    },
  });
  const createdAt = row?.created_at ?? new Date();
  const created: Session = {
    id,
    channel,
    userId,
    agent,
    status: 'active',
    model,
    createdAt,
    lastActivity: createdAt,
    messageCount: 0,
    turnCount: 0,
    inputTokens: 0,
    outputTokens: 0,
    systemPrompt,
    metadata,
    spentToday: 0,
    awaitsMessageId: null,
  };
  return { created, deliveries: row?.deliveries ?? 0 };
}
