import { Injectable } from '@nestjs/common';
import type { GatewaySettings } from '../config/settings.schema.js';
import type { NewUserMessage } from './message.js';
import { RunningTurns } from './running-turns.js';
import { SessionEnded, SessionNotFound, TurnInProgress } from './sessions.errors.js';
import { type BeginLimits, type BegunTurn, TurnStore, type WaitingTurn } from './turn.store.js';

/** How often a waiting message looks whether another replica has freed its session. */
const LOOK_MS = 200;

/** Where messages to one session line up, in the order in which they came, over all replicas. */
@Injectable()
export class TurnLine {
  constructor(
    private readonly store: TurnStore,
    private readonly running: RunningTurns,
  ) {}

  /**
   * Returns once the session is this message's. Throws `SessionNotFound`, `SessionEnded`, and `TurnInProgress` when
   * the line is full or the wait too long: then nothing of the message is stored.
   */
  async enter(
    sessionId: string,
    message: NewUserMessage,
    agent: GatewaySettings['agent'],
  ): Promise<BegunTurn> {
    const limits = { timeoutSecs: agent.session_timeout_secs, historyMessages: agent.history_max_messages };
    const begun = await this.store.begin(sessionId, message, limits);
    if (begun !== undefined) return begun;
    const maxWaiting = agent.on_busy === 'queue' ? agent.max_waiting : 0;
    const { timeoutSecs } = limits;
    const place = await this.store.lineUp(sessionId, message, {
      timeoutSecs,
      maxWaiting,
      maxWaitMs: agent.max_wait_ms,
    });
    if ('refused' in place) throw refusal(place.refused);
    return this.wait(place.waiting, limits, agent.max_wait_ms);
  }

  private async wait(turn: WaitingTurn, limits: BeginLimits, maxWaitMs: number): Promise<BegunTurn> {
    const deadline = performance.now() + maxWaitMs;
    try {
      for (;;) {
        const begun = await this.store.beginWaiting(turn, limits);
        if (begun !== undefined) return begun;
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) throw new TurnInProgress(1);
        await this.running.nextEnd(turn.sessionId, Math.min(LOOK_MS, leftMs));
        if (await this.store.hasEnded(turn.sessionId)) throw new SessionEnded();
      }
    } catch (error) {
      await this.store.leaveLine(turn);
      throw error;
    }
  }
}

function refusal(why: 'not_found' | 'ended' | 'full'): Error {
  switch (why) {
    case 'not_found':
      return new SessionNotFound();
    case 'ended':
      return new SessionEnded();
    case 'full':
      return new TurnInProgress(1);
    default:
      return why satisfies never;
  }
}
