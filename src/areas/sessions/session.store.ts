import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner, SqlValue, Statement, Together } from '../../platform/database/sql.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { EventSignal } from '../../platform/events/event-signal.js';
import type { NewSession, Page, Session, SessionFilter, SessionPage } from './session.js';
import { isDeep, listStatement } from './session-list.sql.js';
import { SESSION_COLUMNS, type SessionRow, type SummaryRow, toSession, toSummary } from './session-row.js';
import type { SilenceLimits } from './session-status.js';

/** What every event of a session tells of it. */
const SESSION_FACTS = { session_id: 'id', channel: 'channel', user_id: 'user_id' };

const INSERT: Statement = {
  name: 'sessions.insert_for_user',
  text: `
    WITH created AS (
      INSERT INTO sessions (id, channel, user_id, names_user, status, system_prompt, model, metadata)
      VALUES ($1, $2, $3, $7, 'active', $4, $5, $6) RETURNING id, channel, user_id, created_at
    )
    SELECT created_at, ${emitSql('session.created', 'user_id', SESSION_FACTS)} AS told FROM created`,
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
    )
    SELECT ${emitSql('session.terminated', 'user_id', { ...SESSION_FACTS, reason: `'deleted'` })} AS told FROM ended`,
};
const SILENT = `
      (status = 'active' AND quiet_since <= now() - make_interval(secs => least($1::float8, $2::float8)))
         OR (status = 'idle' AND quiet_since <= now() - make_interval(secs => $2))`;
/** Whether silence is to be recorded of any: `$1` seconds until idle, `$2` until the end. */
export const ANY_SILENT = `EXISTS (SELECT 1 FROM sessions WHERE ${SILENT})`;
/** Silence recorded: at most `$3` rows, none that somebody else holds. */
const SWEEP: Statement = {
  name: 'sessions.sweep',
  text: `
    WITH due AS (
      SELECT id, quiet_since <= now() - make_interval(secs => $2) AS ended FROM sessions
      WHERE ${SILENT}
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
    END AS told FROM swept`,
};
/** Many tally rows become one a counter, and a trigger adds what goes to the hours; readers see the same sums before and after. */
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
/** How long the tally is. */
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

  /** `together` is committed with the session, or neither. */
  async insert(session: NewSession, together?: Together<Session>): Promise<Session> {
    const { created, told } = await this.database.change(
      (runner) => insertOn(runner, session),
      together && ((runner, { created }) => together(runner, created)),
    );
    this.signal.told(told);
    return created;
  }

  async find(id: string, limits: SilenceLimits): Promise<Session | undefined> {
    const [row] = await this.database.query<SessionRow>(FIND, [id]);
    return row && toSession(row, limits);
  }

  async list(filter: SessionFilter, page: Page, limits: SilenceLimits): Promise<SessionPage> {
    const statement = listStatement({
      status: filter.status,
      byChannel: filter.channel !== undefined,
      byUser: filter.userId !== undefined,
      isDeep: isDeep(page.offset, filter.userId !== undefined),
    });
    const values: SqlValue[] = [limits.idleSecs, limits.timeoutSecs, page.limit, page.offset];
    for (const value of [filter.channel, filter.userId]) if (value !== undefined) values.push(value);
    const rows = await this.database.query<PageRow>(statement, values);
    const found = rows.filter(isSession).map((row) => toSummary(row, limits));
    return { sessions: found, total: rows[0]?.total ?? 0 };
  }

  /** False when the session had ended before, or does not exist. */
  async end(id: string, limits: SilenceLimits): Promise<boolean> {
    const [ended] = await this.database.query<Told>(END, [id, limits.timeoutSecs]);
    this.signal.told(ended?.told);
    return ended !== undefined;
  }

  /** Writes down what silence has done, for at most `most` sessions. @returns those that changed */
  async recordSilence(limits: SilenceLimits, most: number): Promise<readonly SilentSession[]> {
    const swept = await this.database.query<SilentSession & Told>(SWEEP, [
      limits.idleSecs,
      limits.timeoutSecs,
      most,
    ]);
    this.signal.told(swept.reduce((sum, { told }) => sum + told, 0));
    return swept;
  }

  /** Keeps the tally short. Two that fold at once do not lose a count: the second finds the rows gone. */
  async foldTally(whenOver: number): Promise<void> {
    const [size] = await this.database.query<{ rows: number }>(TALLY_SIZE);
    if ((size?.rows ?? 0) <= whenOver) return;
    await this.database.query(FOLD_TALLY);
    await this.database.query(EMPTY_HOURS);
  }
}

/** A session whose silence was written down: it is idle now, or it has ended. */
export interface SilentSession {
  readonly id: string;
  readonly channel: string;
  readonly ended: boolean;
}

/** How many hooks will hear of it. */
interface Told {
  told: number;
}

/** The total stands beside every row of the page, and alone beside nothing when the page is empty. */
type PageRow = { total: number } & (SummaryRow | { [Column in keyof SummaryRow]: null });

function isSession(row: PageRow): row is { total: number } & SummaryRow {
  return row.id !== null;
}

async function insertOn(runner: SqlRunner, session: NewSession): Promise<{ created: Session } & Told> {
  const id = newId('sess');
  const { channel, userId, namesUser, systemPrompt, model, metadata } = session;
  const values = [id, channel, userId, systemPrompt, model, JSON.stringify(metadata), namesUser];
  const [row] = await runner.query<{ created_at: Date } & Told>(INSERT, values);
  const createdAt = row?.created_at ?? new Date();
  const created: Session = {
    id,
    channel,
    userId,
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
  };
  return { created, told: row?.told ?? 0 };
}
