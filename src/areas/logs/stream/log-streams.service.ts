import type { ServerResponse } from 'node:http';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type LogFilter, LogStore } from '../../../platform/logging/log.store.js';
import { Logs } from '../../../platform/logging/logger.js';
import { Settings } from '../../../platform/settings/settings.js';
import { OpenStreams, retryMs, type StreamPlace } from '../../../platform/tokens/open-streams.js';
import type { TakenLimit } from '../../../platform/tokens/taken-limit.js';
import type { TokenHolder } from '../../../platform/tokens/token-shares.js';
import { LogStream } from './log-stream.js';
import { LogTail } from './log-tail.service.js';
import { EntryFormat, type Gap } from './sse-frames.js';

const HEARTBEAT_MS = 14_000;

export interface StreamRequest {
  readonly response: ServerResponse;
  readonly filter: LogFilter;
  /** The number of the last line that the reader got before; everything after it follows. */
  readonly lastEventId: string | undefined;
  /** Without a last line: begin with the newest `limit` lines since then. Left out: begin with what is new. */
  readonly backlog: { readonly since: Date; readonly limit: number } | undefined;
  /** Whether its token is still accepted. Asked twice a second. */
  readonly mayRead: () => Promise<boolean>;
  readonly reader: TokenHolder;
}

/** The open log streams of this process: their number, their heartbeat, and their end. */
@Injectable()
export class LogStreams implements OnModuleDestroy {
  private readonly streams: OpenStreams<LogStream>;

  constructor(
    private readonly store: LogStore,
    private readonly tail: LogTail,
    private readonly format: EntryFormat,
    settings: Settings,
    logs: Logs,
  ) {
    const logger = logs.for('logs::stream');
    this.streams = new OpenStreams({
      name: 'log streams',
      reason: 'too_many_streams',
      advice: 'Raise logging.max_streams, or add replicas.',
      logger,
      terms: () => {
        const { logging, limits } = settings.current;
        return {
          most: logging.max_streams,
          stallMs: logging.stream_stall_ms,
          beatMs: HEARTBEAT_MS,
          limits,
        };
      },
      stalled: (open) =>
        logger.warn('a log stream was cut: its reader stopped reading', { open_streams: open }),
    });
  }

  get count(): number {
    return this.streams.count;
  }

  limits(): TakenLimit[] {
    return this.streams.limits();
  }

  /** The most that is on its way to any one reader, in bytes of memory here. */
  get maxPendingBytes(): number {
    return Math.max(0, ...this.streams.all.map(({ pendingBytes }) => pendingBytes));
  }

  /**
   * Answers with a stream that lasts. Throws `Unavailable` (503) when there are too many, and `RateLimited` (429) when the
   * token already has its share.
   */
  async open(request: StreamRequest): Promise<void> {
    this.streams.refuseTooMany(request.reader);
    const place = this.streams.take(request.reader);
    try {
      const newest = await this.tail.acquire();
      await this.start(request, newest, place).catch((error: unknown) => {
        this.tail.release();
        throw error;
      });
    } catch (error) {
      place.leave();
      throw error;
    }
  }

  /** Ends all streams, and any that open later, with a hint to reconnect. */
  endAll(): void {
    this.streams.endAll();
  }

  onModuleDestroy(): void {
    this.streams.endAll();
  }

  private async start(request: StreamRequest, newest: number, place: StreamPlace<LogStream>): Promise<void> {
    const { response, filter, backlog, lastEventId, mayRead } = request;
    const resumed = lastEventId === undefined ? undefined : resumedAfter(lastEventId, newest);
    const cursor =
      resumed?.cursor ??
      (backlog === undefined
        ? newest
        : await this.store.backlog(filter, backlog.since, newest, backlog.limit));
    const { store, tail, format } = this;
    const stream = new LogStream({ response, filter, store, tail, format });
    stream.onEnd(() => this.tail.release());
    place.keep(stream, mayRead);
    if (response.closed) stream.end();
    else stream.start(cursor, retryMs(), resumed?.gap);
  }
}

/** An id that was never given out begins with what is new, and the gap says so. */
function resumedAfter(lastEventId: string, newest: number): { cursor: number; gap?: Gap } {
  const id = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : Number.POSITIVE_INFINITY;
  if (id <= newest) return { cursor: id };
  return { cursor: newest, gap: { reason: 'unknown_id', lines: null, lost: true } };
}
