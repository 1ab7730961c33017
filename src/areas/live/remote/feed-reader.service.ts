import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Poller } from '../../../platform/runtime/poller.js';
import { type ReadFrame, type RemoteTurn, RemoteTurnsStore, WATCHED_SECS } from '../../turns/turns.api.js';
import { TurnRecords } from '../turn-records.store.js';
import { MirroredTurn, type SessionFeed } from './session-feed.js';

/** How often to look: while a turn of another replica is followed, and otherwise. */
const FOLLOW_MS = 150;
const POLL_MS = 300;
const WATCH_MS = (WATCHED_SECS * 1000) / 3;

/** Reads what other replicas' turns say in the sessions that have viewers here. */
@Injectable()
export class FeedReader implements OnModuleInit, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly feeds = new Set<SessionFeed>();
  private watchedAt = performance.now();
  private readonly poller = new Poller({
    everyMs: () => this.pauseMs(),
    look: () => this.poll(),
    failed: (error) =>
      this.logger.warn(
        'turns of other replicas cannot be shown; reading them resumes when the database answers',
        { viewed_sessions: this.feeds.size, error: String(error) },
      ),
  });

  constructor(
    private readonly store: RemoteTurnsStore,
    private readonly records: TurnRecords,
    private readonly replica: ReplicaId,
    logs: Logs,
  ) {
    this.logger = logs.for('sessions::viewers');
  }

  onModuleInit(): void {
    this.poller.start(Number.POSITIVE_INFINITY);
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
  }

  add(feed: SessionFeed): void {
    this.feeds.add(feed);
    if (this.feeds.size === 1) this.poller.wakeWithin(this.pauseMs());
  }

  remove(feed: SessionFeed): void {
    this.feeds.delete(feed);
  }

  /** Sets where a new feed begins; a turn that is already over is not shown. */
  open(feed: SessionFeed, latest: RemoteTurn | undefined): void {
    if (latest !== undefined && goesOn(latest.status)) this.begun(feed, latest);
    else feed.position = latest?.seq ?? 0;
  }

  /** Reports the turns that began on other replicas since the last look. */
  async pollFor(feeds: readonly SessionFeed[]): Promise<void> {
    const known = new Map(feeds.map((feed) => [feed.sessionId, feed]));
    const begun = await this.store.startedAfter(
      [...known.keys()],
      feeds.map(({ position }) => position),
    );
    for (const turn of begun) {
      const feed = known.get(turn.session_id);
      if (feed !== undefined) this.begun(feed, turn);
    }
  }

  private begun(feed: SessionFeed, turn: RemoteTurn): void {
    if (turn.seq <= feed.position) return;
    feed.position = turn.seq;
    // The hub reports those that run here.
    if (turn.owner === this.replica.value || feed.mirrors.has(turn.turn_id)) return;
    const mirror = new MirroredTurn(turn.session_id, turn.turn_id);
    feed.mirrors.set(turn.turn_id, mirror);
    feed.publish(mirror.live);
  }

  private pauseMs(): number {
    if (this.feeds.size === 0) return Number.POSITIVE_INFINITY;
    return [...this.feeds].some(({ mirrors }) => mirrors.size > 0) ? FOLLOW_MS : POLL_MS;
  }

  private async poll(): Promise<void> {
    const feeds = [...this.feeds];
    if (feeds.length === 0) return;
    if (performance.now() - this.watchedAt > WATCH_MS) {
      await this.store.watch(feeds.map(({ sessionId }) => sessionId));
      this.watchedAt = performance.now();
    }
    await this.pollFor(feeds);
    await this.read(new Map(feeds.flatMap((feed) => [...feed.mirrors].map(([id]) => [id, feed]))));
  }

  private async read(feeds: ReadonlyMap<string, SessionFeed>): Promise<void> {
    if (feeds.size === 0) return;
    const ids = [...feeds.keys()];
    const after = ids.map((id) => feeds.get(id)?.mirrors.get(id)?.n ?? 0);
    const over = new Set(ids);
    for (const row of await this.store.read(ids, after)) {
      this.apply(feeds.get(row.turn_id)?.mirrors.get(row.turn_id), row);
      if (goesOn(row.status)) over.delete(row.turn_id);
    }
    for (const id of over) await this.finish(feeds.get(id), id);
  }

  private apply(mirror: MirroredTurn | undefined, { n, events }: ReadFrame): void {
    if (mirror !== undefined && n !== null && events !== null) mirror.apply(n, events);
  }

  private async finish(feed: SessionFeed | undefined, turnId: string): Promise<void> {
    const record = await this.records.find(turnId);
    feed?.mirrors.get(turnId)?.finish(record);
    feed?.mirrors.delete(turnId);
  }
}

function goesOn(status: string): boolean {
  return status === 'running' || status === 'awaiting_approval';
}
