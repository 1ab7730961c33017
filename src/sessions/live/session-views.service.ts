import { Injectable } from '@nestjs/common';
import type { SeenEvent } from './event-id.js';
import { LAST_STEP } from './live-event.js';
import { PastTurns } from './past-turns.js';
import { TurnHub } from './turn-hub.js';
import type { Viewer } from './viewer.js';

/** What a viewer missed is told again for so many turns; before them there is the history. */
const MOST_RETOLD = 20;

/** Lets viewers into a session: first what they missed, then what runs, then every turn that begins. */
@Injectable()
export class SessionViews {
  constructor(
    private readonly hub: TurnHub,
    private readonly past: PastTurns,
  ) {}

  /** Without a last event it begins with the turn that runs, from its beginning. */
  async open(sessionId: string, viewer: Viewer, seen: SeenEvent | undefined): Promise<void> {
    const missed = seen === undefined ? [] : await this.past.since(sessionId, seen.turnId, MOST_RETOLD);
    if (!viewer.isOpen) return;
    // From here on without a pause: a turn that begins meanwhile is neither missed nor told twice.
    const running = this.hub.current(sessionId);
    for (const turn of missed) {
      if (turn.turnId === running?.turnId) continue;
      const isFirst = turn.turnId === seen?.turnId;
      if (isFirst && seen.steps === LAST_STEP) continue;
      // Steps are not kept with the history: the text goes on where it was, and the end holds the tool calls.
      viewer.follow(turn, isFirst ? { chars: seen.chars, steps: 0 } : undefined);
    }
    if (running !== undefined) viewer.follow(running, running.turnId === seen?.turnId ? seen : undefined);
    viewer.onEnd(this.hub.watch(sessionId, viewer));
  }
}
