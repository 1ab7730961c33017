import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import {
  type LiveTurn,
  lastFrameBefore,
  RemoteTurnsStore,
  type SessionWatcher,
  TurnHub,
} from '../../turns/turns.api.js';
import { FeedReader } from './feed-reader.service.js';
import { MirroredTurn, SessionFeed } from './session-feed.js';

/** Shows the turns of a session to its watchers on this replica, whichever replica runs them. */
@Injectable()
export class SessionFeeds {
  private readonly logger: Logger;
  private readonly feeds = new Map<string, SessionFeed>();

  constructor(
    private readonly hub: TurnHub,
    private readonly reader: FeedReader,
    private readonly store: RemoteTurnsStore,
    logs: Logs,
  ) {
    this.logger = logs.for('sessions::viewers');
    hub.onPark((turn, attempt) => {
      if (turn.hasReaders) this.follow(turn, attempt);
    });
  }

  /** Those who read a turn that left this replica go on with what other replicas write of it, up to its end. */
  private follow(live: LiveTurn, attempt: number): void {
    const { sessionId, turnId } = live;
    const mirror = new MirroredTurn(sessionId, turnId, live, lastFrameBefore(attempt + 1));
    const feed = this.feeds.get(sessionId) ?? this.open(sessionId, mirror);
    feed.users += 1;
    feed.mirrors.set(turnId, mirror);
    live.onAbandoned(() => {
      if (feed.mirrors.get(turnId) === mirror) feed.mirrors.delete(turnId);
      this.left(feed);
    });
  }

  /** Reports the running turn, if there is one, and every turn that begins. @returns a function that ends the watch */
  async watch(sessionId: string, watcher: SessionWatcher): Promise<() => void> {
    const feed = this.feeds.get(sessionId) ?? this.open(sessionId);
    feed.users += 1;
    try {
      await feed.ready;
    } catch (error) {
      this.left(feed);
      throw error;
    }
    feed.add(watcher);
    return () => {
      feed.remove(watcher);
      this.left(feed);
    };
  }

  private open(sessionId: string, parked?: MirroredTurn): SessionFeed {
    const running = this.hub.current(sessionId);
    const stop = this.hub.watch(sessionId, { turnStarted: (turn) => void this.beganHere(feed, turn) });
    const feed = new SessionFeed(sessionId, stop);
    if (parked !== undefined) {
      feed.mirrors.set(parked.turnId, parked);
      feed.publish(parked.live);
    }
    this.feeds.set(sessionId, feed);
    feed.ready = feed.inOrder(async () => {
      await this.store.watch([sessionId]);
      this.reader.open(feed, await this.store.latest(sessionId));
      if (running !== undefined) feed.publish(running);
      this.reader.add(feed);
    });
    return feed;
  }

  /** A turn that ran elsewhere before this one is reported before it. */
  private beganHere(feed: SessionFeed, turn: LiveTurn): Promise<void> {
    return feed.inOrder(async () => {
      try {
        await this.reader.pollFor([feed]);
      } catch (error) {
        this.logger.debug('could not look for turns of other replicas', { error: String(error) });
      }
      // A turn that was followed on another replica and is taken up here continues where it is read.
      if (!feed.mirrors.has(turn.turnId)) feed.publish(turn);
    });
  }

  private left(feed: SessionFeed): void {
    feed.users -= 1;
    if (feed.users > 0 || this.feeds.get(feed.sessionId) !== feed) return;
    this.feeds.delete(feed.sessionId);
    this.reader.remove(feed);
    feed.stop();
  }
}
