import { Injectable } from '@nestjs/common';
import { ConnectionLost } from '../../platform/database/database-failure.js';
import { throughOutage } from '../../platform/database/through-outage.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import { type Caller, ownersOf } from '../../platform/tokens/caller.js';
import { TokenStore } from '../../platform/tokens/token.store.js';
import { TokenRevoked } from '../../platform/tokens/token-endings.js';
import type { ClaimedTurn } from './claimed-turn.js';
import { SessionParties } from './limits/session-parties.js';
import { allowanceOf, spentBudget, type TurnAllowance, turnsTaken } from './limits/turn-allowance.js';
import { TurnRefusals } from './limits/turn-refusals.js';
import { TurnSlots } from './limits/turn-slots.js';
import { originOf } from './lost/turn-origin.js';
import type { NewUserMessage } from './message.js';
import { RunningTurns } from './running-turns.js';
import type { QueueRefusal, SessionTurnState } from './session-turn-state.js';
import { type StartLimits, TurnStore, type WaitingTurn } from './turn.store.js';
import { LEASE_SECS } from './turn-lease.js';
import { SessionAwaitsApproval, SessionEnded, SessionNotFound, TurnInProgress } from './turns.errors.js';
import { WaitingPlaces } from './waiting-places.service.js';

type QueueSettings = Pick<GatewaySettings, 'agent' | 'limits'>;
interface QueueRequest {
  readonly terms: StartLimits;
  readonly mayWait: boolean;
  readonly caller: Caller;
  readonly isAccepted: boolean;
}
type QueueEntry = { readonly begun: ClaimedTurn } | { readonly waiting: WaitingTurn };

/** How often a waiting message looks whether another replica has freed its session. */
const POLL_MS = 200;

/** Where messages to one session line up, in the order in which they came, over all replicas. */
@Injectable()
export class TurnQueue {
  constructor(
    private readonly store: TurnStore,
    private readonly running: RunningTurns,
    private readonly slots: TurnSlots,
    private readonly refusals: TurnRefusals,
    private readonly parties: SessionParties,
    private readonly places: WaitingPlaces,
    private readonly tokens: TokenStore,
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
    settings: QueueSettings,
  ): Promise<ClaimedTurn> {
    return this.noting(async () => {
      const deadline = performance.now() + settings.agent.max_wait_ms;
      const terms = await this.termsOf(sessionId, settings, caller, message);
      const mayWait = settings.agent.on_busy === 'queue' && this.slots.hasRoomToWait;
      const request = { terms, mayWait, caller, isAccepted: false };
      const entry = await this.startOrEnqueue(sessionId, message, settings, request);
      return 'begun' in entry ? entry.begun : this.wait(entry.waiting, request, deadline);
    });
  }

  /** The same for a message that is left in the line when it cannot begin at once; it waits as long as it takes. */
  enterOrStay(
    sessionId: string,
    message: NewUserMessage,
    caller: Caller,
    settings: QueueSettings,
  ): Promise<QueueEntry> {
    const mayWait = settings.agent.on_busy === 'queue';
    return this.noting(async () => {
      const terms = await this.termsOf(sessionId, settings, caller, message);
      return this.startOrEnqueue(sessionId, message, settings, { terms, mayWait, caller, isAccepted: true });
    });
  }

  private async termsOf(
    sessionId: string,
    { agent, limits }: QueueSettings,
    caller: Caller,
    message: NewUserMessage,
  ): Promise<StartLimits> {
    return {
      timeoutSecs: agent.session_timeout_secs,
      historyMessages: agent.history_max_messages,
      allowance: allowanceOf(limits, caller, await this.parties.budgetsOf(sessionId, caller)),
      limits,
      origin: originOf(message, caller),
    };
  }

  private async noting<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.refusals.note(error);
      throw error;
    }
  }

  private async startOrEnqueue(
    sessionId: string,
    message: NewUserMessage,
    { agent }: QueueSettings,
    { terms, mayWait, caller, isAccepted }: QueueRequest,
  ): Promise<QueueEntry> {
    const hasSlot = this.slots.tryAcquire();
    const begun = hasSlot
      ? await this.slots.holdFor(() => this.store.start(sessionId, message, terms))
      : undefined;
    if (begun !== undefined) return { begun };
    if (!hasSlot && !mayWait) throw this.slots.refusal();
    const maxWaiting = agent.on_busy === 'queue' ? agent.max_waiting : 0;
    const queueLimits = { ...terms, maxWaiting, caller, isAccepted };
    const entry = await this.store.enqueue(sessionId, message, queueLimits);
    if ('refused' in entry) throw refusal(entry.refused);
    return entry;
  }

  private async wait(turn: WaitingTurn, request: QueueRequest, deadline: number): Promise<ClaimedTurn> {
    this.places.keep(turn.turnId);
    try {
      let hasSlot = this.slots.tryAcquire();
      for (;;) {
        const found = await this.lookThroughOutage(turn, request, { hasSlot, deadline });
        if ('begun' in found) return found.begun;
        const { state, hadSlot } = found;
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) throw this.whyNot(state, hadSlot, request.terms.allowance);
        if (!hadSlot && !state.busy && state.next_turn === turn.turnId) {
          hasSlot = await this.slots.acquireWithin(leftMs);
          continue;
        }
        await this.running.nextEnd(turn.sessionId, Math.min(POLL_MS, leftMs));
        hasSlot = this.slots.tryAcquire();
      }
    } catch (error) {
      // A place that cannot be left lapses by itself, and what went wrong first says more.
      await this.store.leaveQueue(turn).catch(() => undefined);
      throw error;
    } finally {
      this.places.leave(turn.turnId);
    }
  }

  /**
   * Begins the turn if it may. Repeated while the database is away, so that a short outage costs nobody the place: one that
   * is over, with a look after it, before a place lapses whose last renewal was due when the outage began.
   */
  private lookThroughOutage(
    turn: WaitingTurn,
    { terms, caller }: QueueRequest,
    { hasSlot, deadline }: { readonly hasSlot: boolean; readonly deadline: number },
  ): Promise<
    { readonly begun: ClaimedTurn } | { readonly state: SessionTurnState; readonly hadSlot: boolean }
  > {
    let isBeginning = false;
    let hadSlot = hasSlot;
    let looks = 0;
    const look = async () => {
      isBeginning = false;
      // The last renewal may have fallen into the outage.
      if (looks++ > 0) {
        await this.store.keepPlaces([turn.turnId]);
        hadSlot = this.slots.tryAcquire();
      }
      isBeginning = true;
      const begun = hadSlot
        ? await this.slots.holdFor(() => this.store.startWaiting(turn, terms))
        : undefined;
      isBeginning = false;
      if (begun !== undefined) return { begun };
      return { state: await this.sessionState(turn, terms, caller), hadSlot };
    };
    return throughOutage(look, {
      limitMs: Math.min(LEASE_SECS * 1000, deadline - performance.now()),
      // The turn may have begun.
      isFinal: (error) => isBeginning && error instanceof ConnectionLost,
    });
  }

  /** Throws `SessionEnded`, `TokenRevoked`, `TurnInProgress` and `TurnLimitReached` when it is no use to wait. */
  private async sessionState(
    turn: WaitingTurn,
    terms: StartLimits,
    caller: Caller,
  ): Promise<SessionTurnState> {
    const state = await this.store.sessionState(turn, terms);
    if (state === undefined || state.ended) throw new SessionEnded();
    if (state.place === null && (await this.isRevoked(caller))) throw new TokenRevoked();
    if (state.place !== 'kept') throw new TurnInProgress(1);
    const spent = spentBudget(state, terms.allowance, terms.limits);
    if (spent !== undefined) throw spent;
    return state;
  }

  /** A missing place ended with its token, or lapsed and was deleted: only the token tells which. */
  private async isRevoked(caller: Caller): Promise<boolean> {
    return (await this.tokens.endedAmong(ownersOf(caller))).size > 0;
  }

  /** The error for a message that has waited long enough. */
  private whyNot(state: SessionTurnState, hasSlot: boolean, allowance: TurnAllowance): Error {
    if (state.awaits_approval) return new SessionAwaitsApproval();
    if (state.busy) return new TurnInProgress(1);
    if (!hasSlot) return this.slots.refusal();
    return turnsTaken(state, allowance) ?? new TurnInProgress(1);
  }
}

function refusal(why: QueueRefusal): Error {
  switch (why) {
    case 'not_found':
      return new SessionNotFound();
    case 'ended':
      return new SessionEnded();
    case 'full':
      return new TurnInProgress(1);
    case 'awaiting_approval':
      return new SessionAwaitsApproval();
    default:
      return why;
  }
}
