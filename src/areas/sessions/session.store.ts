import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { Database } from '../../platform/database/database.js';
import type { OnCommit, SqlRunner, SqlValue, Statement } from '../../platform/database/sql.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { EventSignal } from '../../platform/events/event.store.js';
import {
  type NewSession,
  type Page,
  SESSION_COLUMNS,
  type Session,
  type SessionFilter,
  type SessionPage,
  type SessionRow,
  type SummaryRow,
  toSession,
  toSummary,
} from './session.js';
import { isDeep, listStatement } from './session-list.sql.js';
import type { IdleLimits } from './session-status.js';

/** What every event says about its session. */
const SESSION_FACTS = { session_id: 'id', channel: 'channel', user_id: 'user_id' };

const INSERT: Statement = {
  name: 'sessions.insert_for_agent',
  text: `
    WITH created AS (
      INSERT INTO sessions (id, channel, user_id, names_user, status, system_prompt, model, metadata, agent)
      VALUES ($1, $2, $3, $7, 'active', $4, $5, $6, $8) RETURNING id, channel, user_id, created_at
    )
    SELECT created_at, ${emitSql('session.created', 'user_id', SESSION_FACTS)} AS deliveries FROM created`,
};
const FIND: Statement = {
  name: 'sessions.find',
  text: `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = $1`,
};
const END: Statement = {
  name: 'sessions.end',
  text: `
    WITH ended AS (
      UPDATE sessions SET status = 'terminated', ended_at = now()
      WHERE id = $1 AND status <> 'terminated' AND quiet_since > now() - make_interval(secs => $2)
      RETURNING id, channel, user_id
    ), audited AS (${auditedSql({ action: 'session.ended', subject: 'id', session: 'id', origin: '$3', from: 'ended' })})
    SELECT ${emitSql('session.terminated', 'user_id', { ...SESSION_FACTS, reason: `'deleted'` })} AS deliveries FROM ended`,
};
const INACTIVE = `
      (status = 'active' AND quiet_since <= now() - make_interval(secs => least($1::float8, $2::float8)))
         OR (status = 'idle' AND quiet_since <= now() - make_interval(secs => $2))`;
/** Whether there is silence to record: `$1` seconds until idle, `$2` until the end. */
export const ANY_INACTIVE = `EXISTS (SELECT 1 FROM sessions WHERE ${INACTIVE})`;
/** Records silence in at most `$3` rows; skips those that are locked. */
const SWEEP: Statement = {
  name: 'sessions.sweep',
  text: `
    WITH due AS (
      SELECT id, quiet_since <= now() - make_interval(secs => $2) AS ended FROM sessions
      WHERE ${INACTIVE}
      LIMIT $3 FOR UPDATE SKIP LOCKED
    ), swept AS (
      UPDATE sessions SET
        status = CASE WHEN due.ended THEN 'terminated' ELSE 'idle' END,
        ended_at = CASE WHEN due.ended THEN sessions.quiet_since + make_interval(secs => $2) END
      FROM due WHERE sessions.id = due.id RETURNING sessions.id, sessions.channel, sessions.user_id, due.ended
    )
    SELECT id, channel, ended, CASE
      WHEN ended THEN ${emitSql('session.terminated', 'user_id', { ...SESSION_FACTS, reason: `'timeout'` })}
      ELSE ${emitSql('session.idle', 'user_id', SESSION_FACTS)}
    END AS deliveries FROM swept`,
};
/** Folds the tally into one row for each counter; a trigger adds what belongs to the hours. Readers see the same sums before and after. */
const FOLD_TALLY: Statement = {
  name: 'sessions.fold_tally',
  text: `
    WITH gone AS (DELETE FROM session_tally RETURNING channel, status, n)
    INSERT INTO session_tally (channel, status, n) SELECT channel, status, sum(n) FROM gone GROUP BY channel, status`,
};
const EMPTY_HOURS: Statement = {
  name: 'sessions.empty_hours',
  text: 'DELETE FROM session_hours WHERE n = 0',
};
/** The number of rows in the tally. */
export const TALLY_ROWS = '(SELECT count(*) FROM session_tally)';
const TALLY_SIZE: Statement = {
  name: 'sessions.tally_size',
  text: 'SELECT count(*)::int AS rows FROM session_tally',
};

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
    const [row] = await this.database.query<SessionRow>(FIND, [id]);
    return row && toSession(row, limits);
  }

  async list(filter: SessionFilter, page: Page, limits: IdleLimits): Promise<SessionPage> {
    const { status, channel, userId, agents } = filter;
    const whose = { byUser: userId !== undefined, byAgents: agents !== undefined };
    const shape = { status, byChannel: channel !== undefined, ...whose, isDeep: isDeep(page.offset, whose) };
    const values: SqlValue[] = [limits.idleSecs, limits.timeoutSecs, page.limit, page.offset];
    for (const value of [channel, userId, agents && [...agents]]) if (value !== undefined) values.push(value);
    const rows = await this.database.query<PageRow>(listStatement(shape), values);
    const found = rows.filter(isSession).map((row) => toSummary(row, limits));
    return { sessions: found, total: rows[0]?.total ?? 0 };
  }

  /** False when the session has ended already, or does not exist. */
  async end(id: string, limits: IdleLimits): Promise<boolean> {
    const [ended] = await this.database.query<QueuedDeliveries>(END, [id, limits.timeoutSecs, originJson()]);
    this.signal.queued(ended?.deliveries);
    return ended !== undefined;
  }

  /** Writes down what silence has done, for at most `most` sessions. @returns those that changed */
  async recordInactivity(limits: IdleLimits, most: number): Promise<readonly InactiveSession[]> {
    const swept = await this.database.query<InactiveSession & QueuedDeliveries>(SWEEP, [
      limits.idleSecs,
      limits.timeoutSecs,
      most,
    ]);
    this.signal.queued(swept.reduce((sum, { deliveries }) => sum + deliveries, 0));
    return swept;
  }

  /** Keeps the tally short. When two replicas fold at once no count is lost: the second finds the rows gone. */
  async foldTally(whenOver: number): Promise<void> {
    const [size] = await this.database.query<{ rows: number }>(TALLY_SIZE);
    if ((size?.rows ?? 0) <= whenOver) return;
    await this.database.query(FOLD_TALLY);
    await this.database.query(EMPTY_HOURS);
  }
}

/** A session whose silence was written down: it is idle now, or it has ended. */
export interface InactiveSession {
  readonly id: string;
  readonly channel: string;
  readonly ended: boolean;
}

/** How many deliveries the event has. */
interface QueuedDeliveries {
  deliveries: number;
}

/** Every row of the page carries the total; for an empty page there is one row with the total alone. */
type PageRow = { total: number } & (SummaryRow | { [Column in keyof SummaryRow]: null });

function isSession(row: PageRow): row is { total: number } & SummaryRow {
  return row.id !== null;
}

async function insertOn(
  runner: SqlRunner,
  session: NewSession,
): Promise<{ created: Session } & QueuedDeliveries> {
  const id = newId('sess');
  const { channel, userId, namesUser, systemPrompt, model, metadata, agent } = session;
  const values = [id, channel, userId, systemPrompt, model, JSON.stringify(metadata), namesUser, agent];
  const [row] = await runner.query<{ created_at: Date } & QueuedDeliveries>(INSERT, values);
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
