import { Injectable } from '@nestjs/common';
import { LAST_STEP, type LiveTurn } from '../turns/turns.api.js';
import type { SeenEvent } from './event-id.js';
import { SessionFeeds } from './remote/session-feeds.service.js';
import { PastTurns } from './turn-records.store.js';
import type { Viewer } from './viewer.js';

/** What a viewer missed is told again for so many turns; before them there is the history. */
const MAX_REPLAYED = 20;

/** Lets viewers into a session: first what they missed, then what runs on any replica, then every turn that begins. */
@Injectable()
export class SessionViews {
  constructor(
    private readonly feeds: SessionFeeds,
    private readonly past: PastTurns,
  ) {}

  /** Without a last event it begins with the turn that runs, from its beginning. */
  async open(sessionId: string, viewer: Viewer, seen: SeenEvent | undefined): Promise<void> {
    const subscription = new SessionSubscription(viewer, seen);
    // First the door, then the look back: what begins or ends meanwhile is neither missed nor told twice.
    viewer.onEnd(await this.feeds.watch(sessionId, subscription));
    if (!viewer.isOpen) return;
    subscription.open(seen === undefined ? [] : await this.past.since(sessionId, seen.turnId, MAX_REPLAYED));
  }
}

/** Keeps turns that begin from a viewer until it has been told what it missed. */
class SessionSubscription {
  private coming: LiveTurn[] | undefined = [];
  private readonly told = new Set<string>();

  constructor(
    private readonly viewer: Viewer,
    private readonly seen: SeenEvent | undefined,
  ) {}

  turnStarted(turn: LiveTurn): void {
    if (this.told.has(turn.turnId)) return;
    if (this.coming !== undefined) this.coming.push(turn);
    else this.viewer.follow(turn);
  }

  open(missed: readonly LiveTurn[]): void {
    const { coming = [], seen } = this;
    this.coming = undefined;
    const begun = new Set(coming.map(({ turnId }) => turnId));
    for (const turn of missed) {
      this.told.add(turn.turnId);
      const isFirst = turn.turnId === seen?.turnId;
      if (begun.has(turn.turnId) || this.isSeen(turn)) continue;
      // Steps are not kept with the history: the text goes on where it was, and the end holds the tool calls.
      this.viewer.follow(turn, isFirst ? { chars: seen.chars, steps: 0 } : undefined);
    }
    for (const turn of coming) {
      if (!this.isSeen(turn)) this.viewer.follow(turn, turn.turnId === seen?.turnId ? seen : undefined);
    }
  }

  /** To its end, which may not be known here yet. */
  private isSeen({ turnId }: LiveTurn): boolean {
    return turnId === this.seen?.turnId && this.seen.steps === LAST_STEP;
  }
}
