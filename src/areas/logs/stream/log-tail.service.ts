import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type LogEntry, type LogFilter, LogStore } from '../../../platform/logging/log.store.js';
import { LEVEL_RANKS, Logs } from '../../../platform/logging/logger.js';
import { Poller } from '../../../platform/runtime/poller.js';
import { EntryFormat, gapFrame, logFrame } from './sse-frames.js';

const POLL_MS = 200;
const REPOLL_MS = 1000;
const LINES_PER_POLL = 500;

/** A reader that has everything up to the tail's cursor. */
export interface TailReader {
  readonly filter: LogFilter;
  /** Takes all frames after its own cursor and up to this one, synchronously. Each line is passed once. */
  write(frames: Buffer, cursor: number): void;
}

/** Readers that want the same lines share the same bytes. */
interface TailGroup {
  readonly filter: LogFilter;
  readonly readers: Set<TailReader>;
}

/**
 * Follows the newest lines of all replicas while there are readers. One query serves all readers, each line is rendered
 * once, and each reader gets one write per poll (about five a second).
 */
@Injectable()
export class LogTail implements OnModuleDestroy {
  private readonly poller: Poller;
  private readonly groups = new Map<string, TailGroup>();
  private looking: Promise<void> = Promise.resolve();
  private users = 0;
  /** The newest line that was handed out; `undefined` before the first poll. */
  private seen: number | undefined;

  constructor(
    private readonly store: LogStore,
    private readonly format: EntryFormat,
    logs: Logs,
  ) {
    const logger = logs.for('logs::stream');
    this.poller = new Poller({
      everyMs: () => (this.poller.isFailing ? REPOLL_MS : POLL_MS),
      look: () => this.poll(),
      failed: (error) =>
        logger.warn('log streams cannot follow at the moment; they go on when the database answers', {
          reason: String(error),
        }),
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
    await this.looking.catch(() => undefined);
  }

  /** The number of the newest line that readers got. */
  get cursor(): number {
    return this.seen ?? 0;
  }

  /**
   * Follows until `release`. @returns the cursor, which is no older than the newest line at the time of the call.
   * Throws when the database cannot be asked; then there is nothing to release.
   */
  async acquire(): Promise<number> {
    this.users += 1;
    try {
      await this.poll();
    } catch (error) {
      this.release();
      throw error;
    }
    this.poller.start(POLL_MS);
    return this.cursor;
  }

  release(): void {
    this.users -= 1;
    if (this.users === 0) void this.poller.stop().then(() => this.forget());
  }

  /** The reader has everything up to `cursor`, and gets what follows. */
  join(reader: TailReader): void {
    const key = `${reader.filter.minLevel} ${reader.filter.module ?? ''}`;
    const group = this.groups.get(key) ?? { filter: reader.filter, readers: new Set() };
    group.readers.add(reader);
    this.groups.set(key, group);
  }

  leave(reader: TailReader): void {
    for (const [key, group] of this.groups) {
      if (group.readers.delete(reader) && group.readers.size === 0) this.groups.delete(key);
    }
  }

  /** Nobody follows any more: the next reader begins with the newest lines of that time. */
  private forget(): void {
    if (this.users === 0) this.seen = undefined;
  }

  /** Polls once more, after a poll that is already running. */
  private poll(): Promise<void> {
    this.looking = this.looking.catch(() => undefined).then(() => this.handOutNew());
    return this.looking;
  }

  private async handOutNew(): Promise<void> {
    this.seen ??= await this.store.head();
    for (;;) {
      const { head, entries } = await this.store.next(this.seen, LINES_PER_POLL);
      if (head < this.seen) this.startOver(head);
      this.handOut(entries);
      if (entries.length < LINES_PER_POLL) return;
    }
  }

  /** The numbers went back: another database, or one that lost its newest commits. */
  private startOver(head: number): void {
    this.seen = head;
    const frame = Buffer.from(gapFrame(head, { reason: 'unknown_id', lines: null, lost: true }));
    for (const { readers } of [...this.groups.values()]) {
      for (const reader of [...readers]) reader.write(frame, head);
    }
  }

  private handOut(entries: readonly LogEntry[]): void {
    const newest = entries.at(-1);
    if (newest === undefined) return;
    this.seen = newest.id;
    const frames = entries.map((entry) => logFrame(entry.id, this.format.present(entry)));
    for (const { filter, readers } of [...this.groups.values()]) {
      const passing = frames.filter((_frame, index) => passes(entries[index] as LogEntry, filter)).join('');
      const bytes = Buffer.from(passing);
      for (const reader of [...readers]) reader.write(bytes, newest.id);
    }
  }
}

function passes(entry: LogEntry, { minLevel, module }: LogFilter): boolean {
  if (LEVEL_RANKS[entry.level] < LEVEL_RANKS[minLevel]) return false;
  return module === undefined || entry.module === module || entry.module.startsWith(`${module}::`);
}
