import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sentenceOf } from '../../common/errors/error-text.js';
import { Unavailable } from '../../common/errors/gateway-error.js';
import { Database } from '../database/database.js';
import type { OpenDatabase } from '../database/open-database.js';
import { withDeadline } from '../runtime/with-deadline.js';
import type { Settings } from '../settings/settings.js';
import { LogStore } from './log.store.js';
import { outsideLogContext } from './log-context.js';
import { LEVEL_RANKS, type Logger, type Logs } from './logger.js';
import { type StoredLine, storedLine } from './stored-line.js';

const LAST_FLUSH_MS = 5000;

/**
 * The same database. From now on, until it is closed, every log line is stored in it, together with the newest earlier
 * ones.
 */
export function storingLogs(database: OpenDatabase, settings: Settings, logs: Logs): OpenDatabase {
  const writer = new LogWriter(new LogStore(new Database(database.dataSource)), settings, logs);
  return {
    ...database,
    close: async () => {
      const lost = await writer.stop(LAST_FLUSH_MS);
      if (lost > 0) logs.for('logs::store').warn('the last log lines could not be stored', { lines: lost });
      await database.close();
    },
  };
}

const FLUSH_MS = 200;
const MAX_WAIT_MS = 5000;
const MAX_WAITING_LINES = 10_000;
const MAX_WAITING_CHARS = 8 * 2 ** 20;
const LINES_PER_BATCH = 1000;
const CHARS_PER_BATCH = 2 ** 20;
/** A batch that the database refuses although it can be reached is dropped after this many attempts. */
const MAX_REFUSALS = 3;

interface Batch {
  readonly number: number;
  readonly lines: readonly StoredLine[];
  attempts: number;
}

/**
 * Stores the log lines of this process in batches, in the background. While the database is unreachable the newest
 * 10,000 lines (8 MiB) wait; once it is back, one line says how many were dropped.
 */
export class LogWriter {
  /** New at every start: a restarted process is a different writer. */
  private readonly writer = randomUUID();
  private readonly queue = new LineQueue(MAX_WAITING_LINES, MAX_WAITING_CHARS);
  private readonly logger: Logger;
  private timer: NodeJS.Timeout | undefined;
  private storing: Promise<void> | undefined;
  private batch: Batch | undefined;
  private batches = 0;
  private stopped = false;
  private failing = false;

  constructor(
    private readonly store: LogStore,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('logs::store');
    logs.copyTo((line, rank) => this.add(line, rank));
  }

  /**
   * Stores the lines that wait, for at most `timeoutMs`; lines that come later are not stored.
   * @returns how many lines could not be stored
   */
  async stop(timeoutMs: number): Promise<number> {
    const deadline = performance.now() + timeoutMs;
    while (this.waiting > 0 && performance.now() < deadline) {
      clearTimeout(this.timer);
      await withDeadline(this.flush(), deadline - performance.now(), () => undefined);
      if (this.failing) await sleep(FLUSH_MS);
    }
    this.stopped = true;
    clearTimeout(this.timer);
    return this.waiting + this.queue.drainDropped();
  }

  private get waiting(): number {
    return this.queue.size + (this.batch?.lines.length ?? 0);
  }

  private add(line: string, rank: number): void {
    if (this.stopped || rank < LEVEL_RANKS[this.settings.current.logging.store_level]) return;
    this.queue.push({ line, rank });
    if (this.timer === undefined && this.storing === undefined) this.schedule(FLUSH_MS);
  }

  private schedule(inMs: number): void {
    if (this.stopped) return;
    this.timer = outsideLogContext(() => setTimeout(() => void this.flush(), inMs).unref());
  }

  /** One at a time: later callers wait for the run that is under way. */
  private flush(): Promise<void> {
    this.timer = undefined;
    this.storing ??= this.storeAll().finally(() => {
      this.storing = undefined;
      if (this.waiting > 0 && this.timer === undefined) this.schedule(this.pauseMs());
    });
    return this.storing;
  }

  private async storeAll(): Promise<void> {
    do {
      this.batch ??= this.nextBatch();
      if (this.batch === undefined || !(await this.stored(this.batch))) return;
      this.batch = undefined;
      this.logDropped();
    } while (this.queue.size >= LINES_PER_BATCH);
  }

  private nextBatch(): Batch | undefined {
    const lines = this.queue.shiftBatch(LINES_PER_BATCH, CHARS_PER_BATCH);
    if (lines.length === 0) return undefined;
    this.batches += 1;
    return {
      number: this.batches,
      lines: lines.map(({ line, rank }) => storedLine(line, rank)),
      attempts: 0,
    };
  }

  /**
   * Whether the batch is finished. A batch whose response was lost is sent again under its number, and is stored once.
   */
  private async stored(batch: Batch): Promise<boolean> {
    try {
      await this.store.append(this.writer, batch.number, batch.lines);
      this.failing = false;
      return true;
    } catch (error) {
      batch.attempts += 1;
      this.logFailure(error);
      if (error instanceof Unavailable || batch.attempts < MAX_REFUSALS) return false;
      this.queue.countDropped(batch.lines.length);
      return true;
    }
  }

  private pauseMs(): number {
    const attempts = this.batch?.attempts ?? 0;
    return attempts === 0 ? FLUSH_MS : Math.min(FLUSH_MS * 2 ** attempts, MAX_WAIT_MS);
  }

  private logFailure(error: unknown): void {
    if (this.failing) return;
    this.failing = true;
    const reason = sentenceOf(error);
    this.logger.warn('log lines cannot be stored at the moment; the newest of them wait', { reason });
  }

  private logDropped(): void {
    const dropped = this.queue.drainDropped();
    if (dropped > 0) this.logger.warn('log lines were dropped before they could be stored', { dropped });
  }
}

export interface QueuedLine {
  readonly line: string;
  readonly rank: number;
}

/**
 * Lines that wait to be stored, limited in number and in characters. The oldest are dropped to make room, and counted.
 */
export class LineQueue {
  private lines: QueuedLine[] = [];
  private first = 0;
  private chars = 0;
  private dropped = 0;

  constructor(
    private readonly maxLines: number,
    private readonly maxChars: number,
  ) {}

  get size(): number {
    return this.lines.length - this.first;
  }

  push(line: QueuedLine): void {
    this.lines.push(line);
    this.chars += line.line.length;
    while (this.size > this.maxLines || (this.chars > this.maxChars && this.size > 0)) {
      this.shift();
      this.dropped += 1;
    }
  }

  /** Takes out the oldest: at most `lines`, and no further once `chars` is reached. */
  shiftBatch(lines: number, chars: number): QueuedLine[] {
    const taken: QueuedLine[] = [];
    let size = 0;
    while (taken.length < lines && size < chars && this.size > 0) {
      const next = this.shift();
      size += next.line.length;
      taken.push(next);
    }
    return taken;
  }

  countDropped(lines: number): void {
    this.dropped += lines;
  }

  /** How many were dropped since the last call. */
  drainDropped(): number {
    const dropped = this.dropped;
    this.dropped = 0;
    return dropped;
  }

  private shift(): QueuedLine {
    const line = this.lines[this.first] as QueuedLine;
    this.first += 1;
    this.chars -= line.line.length;
    if (this.first > 1024 && this.first * 2 > this.lines.length) {
      this.lines = this.lines.slice(this.first);
      this.first = 0;
    }
    return line;
  }
}
