import { Injectable } from '@nestjs/common';
import { LAST_STEP, type LiveTurn } from '../turns/turns.api.js';
import type { SeenEvent } from './event-id.js';
import { SessionFeeds } from './remote/session-feeds.service.js';
import { PastTurns } from './turn-records.store.js';
import type { Viewer } from './viewer.js';

/** At most this many missed turns are replayed; earlier ones are in the history. */
const MAX_REPLAYED = 20;

/** Shows viewers a session: first what they missed, then the running turn, on any replica, then every turn that begins. */
@Injectable()
export class SessionViews {
  constructor(
    private readonly feeds: SessionFeeds,
    private readonly past: PastTurns,
  ) {}

  /**
   * Watches a session for a viewer to come: every turn that begins from now on, on any replica, is shown to one that is
   * opened before the returned function is called.
   */
  expect(sessionId: string): Promise<() => void> {
    return this.feeds.watch(sessionId, { turnStarted: () => undefined });
  }

  /** Without a last event, the viewer begins with the running turn, from its start. */
  async open(sessionId: string, viewer: Viewer, seen: SeenEvent | undefined): Promise<void> {
    const subscription = new SessionSubscription(viewer, seen);
    // Subscribe first, then look back: what begins or ends meanwhile is neither missed nor shown twice.
    viewer.onEnd(await this.feeds.watch(sessionId, subscription));
    if (!viewer.isOpen) return;
    subscription.open(seen === undefined ? [] : await this.past.since(sessionId, seen.turnId, MAX_REPLAYED));
  }
}

/** Holds new turns back until the viewer has been shown what it missed. */
class SessionSubscription {
  private held: LiveTurn[] | undefined = [];
  private readonly replayed = new Set<string>();

  constructor(
    private readonly viewer: Viewer,
    private readonly seen: SeenEvent | undefined,
  ) {}

  turnStarted(turn: LiveTurn): void {
    if (this.replayed.has(turn.turnId)) return;
    if (this.held !== undefined) this.held.push(turn);
    else this.viewer.follow(turn);
  }

  open(missed: readonly LiveTurn[]): void {
    const { held = [], seen } = this;
    this.held = undefined;
    const begun = new Set(held.map(({ turnId }) => turnId));
    for (const turn of missed) {
      this.replayed.add(turn.turnId);
      const isFirst = turn.turnId === seen?.turnId;
      if (begun.has(turn.turnId) || this.isSeen(turn)) continue;
      // The history keeps no steps: the text continues where it stopped, and the last event holds the tool calls.
      this.viewer.follow(turn, isFirst ? { chars: seen.chars, steps: 0 } : undefined);
    }
    for (const turn of held) {
      if (!this.isSeen(turn)) this.viewer.follow(turn, turn.turnId === seen?.turnId ? seen : undefined);
    }
  }

  /** Seen to its end, which may not be known on this replica yet. */
  private isSeen({ turnId }: LiveTurn): boolean {
    return turnId === this.seen?.turnId && this.seen.steps === LAST_STEP;
  }
}
