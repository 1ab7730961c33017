import { Injectable } from '@nestjs/common';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { TokenRevoked } from '../../platform/tokens/hold-token.js';
import { SessionEnded, SessionNotFound, TurnInProgress } from '../sessions/sessions.errors.js';
import type { BegunTurn } from './begun-turn.js';
import { allowanceOf, spentBudget, type TurnAllowance, turnsTaken } from './limits/turn-allowance.js';
import { TurnPlaces } from './limits/turn-places.js';
import { TurnRefusals } from './limits/turn-refusals.js';
import type { NewUserMessage } from './message.js';
import { RunningTurns } from './running-turns.js';
import type { LineRefusal, SessionStanding } from './session-standing.js';
import { type BeginLimits, TurnStore, type WaitingTurn } from './turn.store.js';

type LineSettings = Pick<GatewaySettings, 'agent' | 'limits'>;
interface LineWish {
  readonly terms: BeginLimits;
  readonly mayWait: boolean;
  readonly caller: Caller;
  readonly isAccepted: boolean;
}
type PlaceInLine = { readonly begun: BegunTurn } | { readonly waiting: WaitingTurn };

/** How often a waiting message looks whether another replica has freed its session. */
const LOOK_MS = 200;

/** Where messages to one session line up, in the order in which they came, over all replicas. */
@Injectable()
export class TurnLine {
  constructor(
    private readonly store: TurnStore,
    private readonly running: RunningTurns,
    private readonly places: TurnPlaces,
    private readonly refusals: TurnRefusals,
  ) {}

  /**
   * Returns once the session is this message's, with a place in this process that the caller gives back as soon as the
   * turn runs. Throws `SessionNotFound`, `SessionEnded`, `TokenRevoked`, `TurnInProgress` when the line is full or the wait too
   * long, and `TurnLimitReached`: then nothing of the message is stored.
   */
  enter(
    sessionId: string,
    message: NewUserMessage,
    caller: Caller,
    settings: LineSettings,
  ): Promise<BegunTurn> {
    return this.noting(async () => {
      const deadline = performance.now() + settings.agent.max_wait_ms;
      const terms = termsOf(settings, caller);
      const mayWait = settings.agent.on_busy === 'queue' && this.places.hasRoomToWait;
      const wish = { terms, mayWait, caller, isAccepted: false };
      const place = await this.takeOrLineUp(sessionId, message, settings, wish);
      return 'begun' in place ? place.begun : this.wait(place.waiting, terms, deadline);
    });
  }

  /** The same for a message that is left in the line when it cannot begin at once; it waits as long as it takes. */
  enterOrLeave(
    sessionId: string,
    message: NewUserMessage,
    caller: Caller,
    settings: LineSettings,
  ): Promise<PlaceInLine> {
    const mayWait = settings.agent.on_busy === 'queue';
    const wish = { terms: termsOf(settings, caller), mayWait, caller, isAccepted: true };
    return this.noting(() => this.takeOrLineUp(sessionId, message, settings, wish));
  }

  private async noting<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.refusals.note(error);
      throw error;
    }
  }

  private async takeOrLineUp(
    sessionId: string,
    message: NewUserMessage,
    { agent }: LineSettings,
    { terms, mayWait, caller, isAccepted }: LineWish,
  ): Promise<PlaceInLine> {
    const hasPlace = this.places.tryTake();
    const begun = hasPlace
      ? await this.places.keepFor(() => this.store.begin(sessionId, message, terms))
      : undefined;
    if (begun !== undefined) return { begun };
    if (!hasPlace && !mayWait) throw this.places.refusal();
    const maxWaiting = agent.on_busy === 'queue' ? agent.max_waiting : 0;
    const line = { ...terms, maxWaiting, maxWaitMs: agent.max_wait_ms, caller, isAccepted };
    const place = await this.store.lineUp(sessionId, message, line);
    if ('refused' in place) throw refusal(place.refused);
    return place;
  }

  private async wait(turn: WaitingTurn, terms: BeginLimits, deadline: number): Promise<BegunTurn> {
    try {
      let hasPlace = this.places.tryTake();
      for (;;) {
        const begun = hasPlace
          ? await this.places.keepFor(() => this.store.beginWaiting(turn, terms))
          : undefined;
        if (begun !== undefined) return begun;
        const standing = await this.standing(turn, terms);
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) throw this.whyNot(standing, hasPlace, terms.allowance);
        if (!hasPlace && !standing.busy && standing.next_turn === turn.turnId) {
          hasPlace = await this.places.takeWithin(leftMs);
          continue;
        }
        await this.running.nextEnd(turn.sessionId, Math.min(LOOK_MS, leftMs));
        hasPlace = this.places.tryTake();
      }
    } catch (error) {
      await this.store.leaveLine(turn);
      throw error;
    }
  }

  /** Throws `SessionEnded`, `TokenRevoked`, and `TurnLimitReached` when it is no use to wait. */
  private async standing(turn: WaitingTurn, terms: BeginLimits): Promise<SessionStanding> {
    const standing = await this.store.standing(turn, terms);
    if (standing === undefined || standing.ended) throw new SessionEnded();
    if (!standing.in_line) throw new TokenRevoked();
    const spent = spentBudget(standing, terms.allowance);
    if (spent !== undefined) throw spent;
    return standing;
  }

  /** What a message is told that has waited long enough. */
  private whyNot(standing: SessionStanding, hasPlace: boolean, allowance: TurnAllowance): Error {
    if (standing.busy) return new TurnInProgress(1);
    if (!hasPlace) return this.places.refusal();
    return turnsTaken(standing, allowance) ?? new TurnInProgress(1);
  }
}

function termsOf({ agent, limits }: LineSettings, caller: Caller): BeginLimits {
  return {
    timeoutSecs: agent.session_timeout_secs,
    historyMessages: agent.history_max_messages,
    allowance: allowanceOf(limits, caller),
  };
}

function refusal(why: LineRefusal): Error {
  switch (why) {
    case 'not_found':
      return new SessionNotFound();
    case 'ended':
      return new SessionEnded();
    case 'full':
      return new TurnInProgress(1);
    default:
      return why;
  }
}
