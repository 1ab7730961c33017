import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import { Database } from '../database/database.js';
import { columnsOf } from '../database/entity-columns.js';
import {
  arrayOf,
  bigint,
  integer,
  nullable,
  orNull,
  type RowOf,
  smallint,
  text,
  timestamp,
} from '../database/sql-types.js';
import { statement } from '../database/statement.js';
import { LogEntryEntity } from './log-entry.entity.js';
import { LEVEL_RANKS, type LogLevel, levelOfRank } from './logger.js';
import type { StoredLine } from './stored-line.js';

/** A log line as it is stored and shown (docs/specification/api.md, 2.10). */
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
  /** Whole segments from the start: `channel` covers `channel::telegram`. Without it, all modules. */
  readonly module?: string | undefined;
}

export interface LogPage {
  /** Oldest first. */
  readonly entries: readonly LogEntry[];
  /** How many lines match the filter, not how many are on the page. */
  readonly total: number;
}

const COLUMNS = 'id, at, level, module, message, session_id';
/** The columns are null when a statement found no line and returned only its extra column. */
const LINE = orNull(columnsOf(LogEntryEntity, 'id', 'at', 'level', 'module', 'message', 'sessionId'));
/** The lowest level, and a module with everything below it, or null. */
const FILTER = { level: smallint, module: nullable(text) };
const MATCHES = `level >= :level::smallint
  AND (:module::text IS NULL OR module = :module OR starts_with(module, :module || '::'))`;

const APPEND = statement({
  name: 'logs.append',
  params: {
    ...{ writer: text, batch: bigint, at: arrayOf(timestamp), levels: arrayOf(smallint) },
    ...{ modules: arrayOf(text), messages: arrayOf(text), sessions: arrayOf(nullable(text)) },
  },
  row: {},
  sql: `
    SELECT append_log_lines(:writer, :batch, :at::timestamptz[], :levels::smallint[], :modules::text[],
      :messages::text[], :sessions::text[])`,
});

const LIST = statement({
  name: 'logs.list',
  params: { ...FILTER, since: timestamp, limit: bigint },
  row: { total: integer, ...LINE },
  sql: `
    SELECT counted.total, line.* FROM
      (SELECT count(*)::int AS total FROM log_entries WHERE at >= :since AND ${MATCHES}) counted
      LEFT JOIN LATERAL (
        SELECT ${COLUMNS} FROM log_entries WHERE at >= :since AND ${MATCHES} ORDER BY at DESC, id DESC LIMIT :limit
      ) line ON true
    ORDER BY line.at, line.id`,
});

const HEAD = statement({
  name: 'logs.head',
  params: {},
  row: { last_id: bigint },
  sql: 'SELECT last_id FROM log_head',
});

const NEXT = statement({
  name: 'logs.next',
  params: { cursor: bigint, limit: bigint },
  row: { head: bigint, ...LINE },
  sql: `
    SELECT head.last_id AS head, line.* FROM log_head head LEFT JOIN LATERAL (
      SELECT ${COLUMNS} FROM log_entries WHERE id > :cursor ORDER BY id LIMIT :limit
    ) line ON true ORDER BY line.id`,
});

const PAGE = statement({
  name: 'logs.page',
  params: { ...FILTER, cursor: bigint, last: bigint, limit: bigint },
  row: { first_kept: bigint, ...LINE },
  sql: `
    SELECT kept.first_kept, line.* FROM
      (SELECT coalesce((SELECT min(id) FROM log_entries), (SELECT last_id + 1 FROM log_head)) AS first_kept) kept
      LEFT JOIN LATERAL (
        SELECT ${COLUMNS} FROM log_entries WHERE id > :cursor AND id <= :last AND ${MATCHES} ORDER BY id LIMIT :limit
      ) line ON true
    ORDER BY line.id`,
});

const BACKLOG = statement({
  name: 'logs.backlog',
  params: { ...FILTER, since: timestamp, last: bigint, limit: bigint },
  row: { cursor: nullable(bigint) },
  sql: `
    SELECT min(id) - 1 AS cursor FROM (
      SELECT id FROM log_entries WHERE at >= :since AND id <= :last AND ${MATCHES} ORDER BY id DESC LIMIT :limit
    ) newest`,
});

/**
 * One replica at a time deletes, and only the lowest numbers, so that what is kept has no gaps: the lines before the
 * oldest one that is young enough, and those past the limit. A line from the future, written with a wrong clock, does
 * not count as young.
 */
const TRIM = statement({
  name: 'logs.trim',
  params: { days: integer, rows: bigint, most: bigint },
  row: { gone: integer },
  sql: `
    WITH trim_lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.trimmingLogs}) AS mine),
    young AS (
      SELECT id FROM log_entries WHERE at BETWEEN now() - make_interval(days => :days) AND now() + interval '1 hour'
      ORDER BY id LIMIT 1
    ),
    edge AS (
      SELECT greatest(coalesce((SELECT id FROM young), last_id + 1), last_id + 1 - :rows::bigint) AS first FROM log_head
    ),
    gone AS (
      DELETE FROM log_entries WHERE id IN (
        SELECT entry.id FROM log_entries entry, edge, trim_lock WHERE trim_lock.mine AND entry.id < edge.first
        ORDER BY entry.id LIMIT :most
      ) RETURNING 1
    ),
    forgotten AS (
      DELETE FROM log_writers WHERE wrote_at < now() - interval '1 day' AND (SELECT mine FROM trim_lock)
    )
    SELECT count(*)::int AS gone FROM gone`,
});

/** The result of one look at the newest lines. */
export interface NewLines {
  /** The number of the newest line that exists. */
  readonly head: number;
  /** The lines after the given one, in order; fewer than there are when they exceed the limit. */
  readonly entries: readonly LogEntry[];
}

export interface PageOfLines {
  /** The number of the oldest line that is still kept; one more than the newest number when none is. */
  readonly firstKept: number;
  readonly entries: readonly LogEntry[];
}

/** The statements of log lines. */
@Injectable()
export class LogStore {
  constructor(private readonly database: Database) {}

  /** Stores a batch of one writer: all lines or none, and only once, however often it is called for this number. */
  async append(writer: string, batch: number, lines: readonly StoredLine[]): Promise<void> {
    await this.database.query(APPEND, {
      ...{ writer, batch },
      // The driver would write dates field by field, in local time.
      at: lines.map(({ at }) => at.toISOString()),
      levels: lines.map(({ rank }) => rank),
      modules: lines.map(({ module }) => module),
      messages: lines.map(({ message }) => message),
      sessions: lines.map(({ sessionId }) => sessionId),
    });
  }

  /** The newest `limit` of all that match, oldest first, and how many match. */
  async list(filter: LogFilter, since: Date, limit: number): Promise<LogPage> {
    const rows = await this.database.query(LIST, { ...paramsOf(filter), since, limit });
    return { entries: entriesOf(rows), total: rows[0]?.total ?? 0 };
  }

  async head(): Promise<number> {
    const [row] = await this.database.query(HEAD);
    return Number(row?.last_id ?? 0);
  }

  /** All lines after `cursor`, at most `limit`. */
  async next(cursor: number, limit: number): Promise<NewLines> {
    const rows = await this.database.query(NEXT, { cursor, limit });
    return { head: Number(rows[0]?.head ?? 0), entries: entriesOf(rows) };
  }

  /** Matching lines after `cursor` and up to `last`, in order, at most `limit`. */
  async page(filter: LogFilter, cursor: number, last: number, limit: number): Promise<PageOfLines> {
    const rows = await this.database.query(PAGE, { ...paramsOf(filter), cursor, last, limit });
    return { firstKept: Number(rows[0]?.first_kept ?? 0), entries: entriesOf(rows) };
  }

  /** The number before the oldest of the newest `limit` matching lines, up to `last`; `last` when none matches. */
  async backlog(filter: LogFilter, since: Date, last: number, limit: number): Promise<number> {
    const [row] = await this.database.query(BACKLOG, { ...paramsOf(filter), since, last, limit });
    return Number(row?.cursor ?? last);
  }

  /**
   * Deletes at most `most` of the oldest lines that are older than `days` or exceed the newest `rows`. Does nothing
   * while another replica deletes. @returns how many it deleted
   */
  async trim(days: number, rows: number, most: number): Promise<number> {
    const [row] = await this.database.query(TRIM, { days, rows, most });
    return row?.gone ?? 0;
  }
}

type FoundLine = RowOf<typeof LINE>;
type Line = {
  readonly [Column in Exclude<keyof FoundLine, 'session_id'>]: NonNullable<FoundLine[Column]>;
} & Pick<FoundLine, 'session_id'>;

function paramsOf({ minLevel, module }: LogFilter) {
  return { level: LEVEL_RANKS[minLevel], module: module ?? null };
}

function entriesOf(rows: readonly FoundLine[]): LogEntry[] {
  return rows.filter((row): row is Line => row.id !== null).map(toEntry);
}

function toEntry(row: Line): LogEntry {
  return {
    id: Number(row.id),
    timestamp: row.at,
    level: levelOfRank(row.level),
    module: row.module,
    message: row.message,
    sessionId: row.session_id ?? undefined,
  };
}
