import type { ServerResponse } from 'node:http';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { RateLimited, Unavailable } from '../../../common/errors/gateway-error.js';
import { type LogFilter, LogStore } from '../../../platform/logging/log.store.js';
import { outsideLogContext } from '../../../platform/logging/log-context.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Settings } from '../../../platform/settings/settings.js';
import { LogStream } from './log-stream.js';
import { LogTail } from './log-tail.service.js';
import { EntryFormat, type Gap } from './sse-frames.js';

/** With the half second for which a token is known: a reader whose token was revoked is ended within 1.5 s. */
const SWEEP_MS = 700;
const HEARTBEAT_SWEEPS = 20;
/** Spreads reconnects, so that not all readers reach the next replica at once. */
const RETRY_MS = 1000;
const RETRY_SPREAD_MS = 2000;

export interface StreamRequest {
  readonly response: ServerResponse;
  readonly filter: LogFilter;
  /** The number of the last line that the reader got before; everything after it follows. */
  readonly lastEventId: string | undefined;
  /** Without a last line: begin with the newest `limit` lines since then. Left out: begin with what is new. */
  readonly backlog: { readonly since: Date; readonly limit: number } | undefined;
  /** Whether its token is still accepted. Called about once a second. */
  readonly mayRead: () => Promise<boolean>;
  /** The token that reads, and how many of a number of streams it may hold in this process. */
  readonly reader: { readonly tokenId: string; readonly share: (places: number) => number };
}

/** The open log streams of this process: their number, their heartbeat, and their end. */
@Injectable()
export class LogStreams implements OnModuleDestroy {
  private readonly logger: Logger;
  private readonly streams = new Map<LogStream, StreamRequest['mayRead']>();
  private timer: NodeJS.Timeout | undefined;
  private readonly byToken = new Map<string, number>();
  private opening = 0;
  private sweeps = 0;
  private ended = false;

  constructor(
    private readonly store: LogStore,
    private readonly tail: LogTail,
    private readonly format: EntryFormat,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('logs::stream');
  }

  get count(): number {
    return this.streams.size;
  }

  /** The most that is on its way to any one reader, in bytes of memory here. */
  get maxPendingBytes(): number {
    return Math.max(0, ...[...this.streams.keys()].map(({ pendingBytes }) => pendingBytes));
  }

  /**
   * Answers with a stream that lasts. Throws `Unavailable` (503) when there are too many, and `RateLimited` (429) when the
   * token already has its share.
   */
  async open(request: StreamRequest): Promise<void> {
    const { tokenId } = request.reader;
    this.refuseTooMany(request.reader);
    this.opening += 1;
    this.tally(tokenId, 1);
    try {
      const newest = await this.tail.acquire();
      await this.start(request, newest).catch((error: unknown) => {
        this.tail.release();
        throw error;
      });
    } catch (error) {
      this.tally(tokenId, -1);
      throw error;
    } finally {
      this.opening -= 1;
    }
  }

  /** Ends all streams, and any that open later, with a hint to reconnect. */
  endAll(): void {
    this.ended = true;
    clearInterval(this.timer);
    for (const stream of [...this.streams.keys()]) stream.close(retryMs());
  }

  onModuleDestroy(): void {
    this.endAll();
  }

  private refuseTooMany({ tokenId, share }: StreamRequest['reader']): void {
    const most = this.settings.current.logging.max_streams;
    if (this.streams.size + this.opening >= most) {
      throw new Unavailable(`There are ${most} open log streams, and no more are served here.`, {
        retryAfterSecs: 10,
        details: { reason: 'too_many_streams' },
      });
    }
    const own = share(most);
    if ((this.byToken.get(tokenId) ?? 0) < own) return;
    throw new RateLimited(
      `This API token has its share of ${own} open log streams here (limits.streams_per_api_token). Close one first.`,
      { retryAfterSecs: 10, details: { reason: 'api_token_streams' } },
    );
  }

  private tally(tokenId: string, by: 1 | -1): void {
    const now = (this.byToken.get(tokenId) ?? 0) + by;
    if (now === 0) this.byToken.delete(tokenId);
    else this.byToken.set(tokenId, now);
  }

  private async start(request: StreamRequest, newest: number): Promise<void> {
    const { response, filter, backlog, lastEventId, mayRead } = request;
    const resumed = lastEventId === undefined ? undefined : resumedAfter(lastEventId, newest);
    const cursor =
      resumed?.cursor ??
      (backlog === undefined
        ? newest
        : await this.store.backlog(filter, backlog.since, newest, backlog.limit));
    const { store, tail, format } = this;
    const stream = new LogStream({ response, filter, store, tail, format });
    stream.onEnd(() => {
      this.tally(request.reader.tokenId, -1);
      this.streams.delete(stream);
      this.tail.release();
    });
    this.streams.set(stream, mayRead);
    this.timer ??= outsideLogContext(() => setInterval(() => this.sweep(), SWEEP_MS).unref());
    if (response.closed) stream.end();
    else stream.start(cursor, retryMs(), resumed?.gap);
    if (this.ended) stream.close(retryMs());
  }

  private sweep(): void {
    this.sweeps += 1;
    const beat = this.sweeps % HEARTBEAT_SWEEPS === 0;
    const timeoutMs = this.settings.current.logging.stream_stall_ms;
    for (const [stream, mayRead] of this.streams) {
      void this.endWhenForbidden(stream, mayRead);
      if (stream.stalledMs() > timeoutMs) this.cut(stream);
      else if (beat) stream.heartbeat();
    }
  }

  private cut(stream: LogStream): void {
    stream.cut();
    this.logger.warn('a log stream was cut: its reader takes nothing', { open_streams: this.streams.size });
  }

  /** While the database does not answer, the stream stays: there is nothing new to read then. */
  private async endWhenForbidden(stream: LogStream, mayRead: StreamRequest['mayRead']): Promise<void> {
    const allowed = await mayRead().catch(() => true);
    if (!allowed) stream.close(retryMs());
  }
}

function retryMs(): number {
  return Math.round(RETRY_MS + Math.random() * RETRY_SPREAD_MS);
}

/** An id that was never given out begins with what is new, and the gap says so. */
function resumedAfter(lastEventId: string, newest: number): { cursor: number; gap?: Gap } {
  const id = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : Number.POSITIVE_INFINITY;
  if (id <= newest) return { cursor: id };
  return { cursor: newest, gap: { reason: 'unknown_id', lines: null, lost: true } };
}
