import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import { Database } from '../database/database.js';
import type { Statement } from '../database/sql.js';
import { LEVEL_RANKS, type LogLevel, levelOfRank } from './logger.js';
import type { StoredLine } from './stored-line.js';

/** A log line as it is kept and shown (docs/specification/api.md, 2.10). */
export interface LogEntry {
  /** Counts the lines of all replicas in the order in which they were stored, without gaps. */
  readonly id: number;
  readonly timestamp: Date;
  readonly level: LogLevel;
  readonly module: string;
  /** The sentence, followed by its fields as `key=value`; always one line. */
  readonly message: string;
  readonly sessionId: string | undefined;
}

export interface LogFilter {
  readonly minLevel: LogLevel;
  /** Whole segments from the start: `channel` covers `channel::telegram`. All modules when left out. */
  readonly module?: string | undefined;
}

export interface LogPage {
  /** Oldest first. */
  readonly entries: readonly LogEntry[];
  /** Counts the filter, not the page. */
  readonly total: number;
}

const COLUMNS = 'id, at, level, module, message, session_id';
/** $1 is the lowest level, $2 a module with everything below it, or null. */
const MATCHES = `level >= $1::smallint AND ($2::text IS NULL OR module = $2 OR starts_with(module, $2 || '::'))`;

const APPEND: Statement = {
  name: 'logs.append',
  text: `SELECT append_log_lines($1, $2, $3::timestamptz[], $4::smallint[], $5::text[], $6::text[], $7::text[])`,
};

const LIST: Statement = {
  name: 'logs.list',
  text: `
    SELECT counted.total, line.* FROM
      (SELECT count(*)::int AS total FROM log_entries WHERE at >= $3 AND ${MATCHES}) counted
      LEFT JOIN LATERAL (
        SELECT ${COLUMNS} FROM log_entries WHERE at >= $3 AND ${MATCHES} ORDER BY at DESC, id DESC LIMIT $4
      ) line ON true
    ORDER BY line.at, line.id`,
};

const HEAD: Statement = { name: 'logs.head', text: 'SELECT last_id FROM log_head' };

const NEXT: Statement = {
  name: 'logs.next',
  text: `
    SELECT head.last_id AS head, line.* FROM log_head head LEFT JOIN LATERAL (
      SELECT ${COLUMNS} FROM log_entries WHERE id > $1 ORDER BY id LIMIT $2
    ) line ON true ORDER BY line.id`,
};

const PAGE: Statement = {
  name: 'logs.page',
  text: `
    SELECT kept.first_kept, line.* FROM
      (SELECT coalesce((SELECT min(id) FROM log_entries), (SELECT last_id + 1 FROM log_head)) AS first_kept) kept
      LEFT JOIN LATERAL (
        SELECT ${COLUMNS} FROM log_entries WHERE id > $3 AND id <= $4 AND ${MATCHES} ORDER BY id LIMIT $5
      ) line ON true
    ORDER BY line.id`,
};

const BACKLOG: Statement = {
  name: 'logs.backlog',
  text: `
    SELECT min(id) - 1 AS cursor FROM (
      SELECT id FROM log_entries WHERE at >= $3 AND id <= $4 AND ${MATCHES} ORDER BY id DESC LIMIT $5
    ) newest`,
};

/**
 * One replica at a time deletes, and only the lowest numbers, so that what is kept has no gaps: the lines before the
 * oldest that is young enough (a line from the future, of a wrong clock, does not count as young), and those past the
 * limit.
 */
const TRIM: Statement = {
  name: 'logs.trim',
  text: `
    WITH trim_lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.trimmingLogs}) AS mine),
    young AS (
      SELECT id FROM log_entries WHERE at BETWEEN now() - make_interval(days => $1) AND now() + interval '1 hour'
      ORDER BY id LIMIT 1
    ),
    edge AS (
      SELECT greatest(coalesce((SELECT id FROM young), last_id + 1), last_id + 1 - $2::bigint) AS first FROM log_head
    ),
    gone AS (
      DELETE FROM log_entries WHERE id IN (
        SELECT entry.id FROM log_entries entry, edge, trim_lock WHERE trim_lock.mine AND entry.id < edge.first
        ORDER BY entry.id LIMIT $3
      ) RETURNING 1
    ),
    forgotten AS (
      DELETE FROM log_writers WHERE wrote_at < now() - interval '1 day' AND (SELECT mine FROM trim_lock)
    )
    SELECT count(*)::int AS gone FROM gone`,
};

/** The result of one look at the newest lines. */
export interface NewLines {
  /** The number of the newest line that exists. */
  readonly head: number;
  /** The lines after the asked one, in order; fewer than there are when they exceed the asked limit. */
  readonly entries: readonly LogEntry[];
}

export interface PageOfLines {
  /** The number of the oldest line that is still kept; one past the head when none is. */
  readonly firstKept: number;
  readonly entries: readonly LogEntry[];
}

/** The statements of log lines. */
@Injectable()
export class LogStore {
  constructor(private readonly database: Database) {}

  /** Stores a batch of one writer, all or nothing, and only once however often it is called for this number. */
  async append(writer: string, batch: number, lines: readonly StoredLine[]): Promise<void> {
    await this.database.query(APPEND, [
      writer,
      batch,
      // The driver writes out dates field by field, in local time.
      lines.map(({ at }) => at.toISOString()),
      lines.map(({ rank }) => rank),
      lines.map(({ module }) => module),
      lines.map(({ message }) => message),
      lines.map(({ sessionId }) => sessionId),
    ]);
  }

  /** The newest `limit` of all that match, oldest first, and how many match. */
  async list(filter: LogFilter, since: Date, limit: number): Promise<LogPage> {
    const rows = await this.database.query<EntryRow & { total: number }>(LIST, [
      ...filterValues(filter),
      since,
      limit,
    ]);
    return { entries: entriesOf(rows), total: rows[0]?.total ?? 0 };
  }

  async head(): Promise<number> {
    const [row] = await this.database.query<{ last_id: string }>(HEAD);
    return Number(row?.last_id ?? 0);
  }

  /** All lines after `cursor`, at most `limit`. */
  async next(cursor: number, limit: number): Promise<NewLines> {
    const rows = await this.database.query<EntryRow & { head: string }>(NEXT, [cursor, limit]);
    return { head: Number(rows[0]?.head ?? 0), entries: entriesOf(rows) };
  }

  /** Matching lines after `cursor` and up to `last`, in order, at most `limit`. */
  async page(filter: LogFilter, cursor: number, last: number, limit: number): Promise<PageOfLines> {
    const rows = await this.database.query<EntryRow & { first_kept: string }>(PAGE, [
      ...filterValues(filter),
      cursor,
      last,
      limit,
    ]);
    return { firstKept: Number(rows[0]?.first_kept ?? 0), entries: entriesOf(rows) };
  }

  /** The number before the oldest of the newest `limit` lines that match, up to `last`; `last` when none does. */
  async backlog(filter: LogFilter, since: Date, last: number, limit: number): Promise<number> {
    const values = [...filterValues(filter), since, last, limit];
    const [row] = await this.database.query<{ cursor: string }>(BACKLOG, values);
    return Number(row?.cursor ?? last);
  }

  /**
   * Deletes at most `most` of the oldest lines that are older than `days` or beyond the newest `rows`; nothing while
   * another replica does it. @returns how many
   */
  async trim(days: number, rows: number, most: number): Promise<number> {
    const [row] = await this.database.query<{ gone: number }>(TRIM, [days, rows, most]);
    return row?.gone ?? 0;
  }
}

/** A line; its columns are null when a statement found none and returned its extra column alone. */
interface EntryRow {
  readonly id: string | null;
  readonly at: Date;
  readonly level: number;
  readonly module: string;
  readonly message: string;
  readonly session_id: string | null;
}

function filterValues({ minLevel, module }: LogFilter): [number, string | null] {
  return [LEVEL_RANKS[minLevel], module ?? null];
}

function entriesOf(rows: readonly EntryRow[]): LogEntry[] {
  return rows.flatMap((row) => (row.id === null ? [] : [toEntry(row, row.id)]));
}

function toEntry(row: EntryRow, id: string): LogEntry {
  return {
    id: Number(id),
    timestamp: row.at,
    level: levelOfRank(row.level),
    module: row.module,
    message: row.message,
    sessionId: row.session_id ?? undefined,
  };
}
