import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { APPEND, BACKLOG, HEAD, LIST, NEXT, PAGE, TRIM } from './log.sql.js';
import type { LogEntry, LogFilter, LogPage } from './log-entry.js';
import { LEVEL_RANKS, levelOfRank } from './log-level.js';
import type { StoredLine } from './stored-line.js';

/** What one look at the newest lines saw. */
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

/** One line, or nothing beside what stands next to every row. */
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
