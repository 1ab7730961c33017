import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Readiness } from '../../../platform/lifecycle/readiness.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { DueWork } from '../../../platform/runtime/due-work.service.js';
import { Poller } from '../../../platform/runtime/poller.js';
import { ownersOf } from '../../../platform/tokens/caller.js';
import { TokenStore } from '../../../platform/tokens/token.store.js';
import { ToolApprovals, ToolSources } from '../../tools/tools.api.js';
import { TurnSlots } from '../limits/turn-slots.js';
import { RunningTurns } from '../running-turns.js';
import { TurnStarter } from '../turn-starter.service.js';
import { TurnOfRevokedToken, TurnStopped } from '../turns.errors.js';
import { ANY_TO_TAKE_UP, ANY_UNSAID } from './lost-turns.sql.js';
import { type LostTurn, LostTurnsStore } from './lost-turns.store.js';

/** Finds decisions that were made elsewhere, such as on a command line. */
const POLL_MS = 400;
/**
 * Whatever ends a wait wakes the turn by itself. This finds turns that were not woken, by looking at every parked turn:
 * 4 ms for a thousand.
 */
const UNSAID_POLL_MS = 5000;
/** Other replicas take their share. */
const MAX_AT_ONCE = 16;

/**
 * Continues turns whose replica died or stopped, and turns whose wait for a person is over, from their last stored
 * step. The first replica that sees such a turn takes it; the sweeper closes turns that may not be tried again.
 */
@Injectable()
export class LostTurns implements OnModuleInit, OnModuleDestroy {
  private readonly logger: Logger;
  private isUnsaid = false;
  private areMoreDue = false;
  private readonly poller = new Poller({
    everyMs: () => (this.areMoreDue ? 0 : Number.POSITIVE_INFINITY),
    look: () => this.look(),
    failed: (error) =>
      this.logger.warn('turns of lost replicas cannot be taken up; that resumes when the database answers', {
        error: String(error),
      }),
  });

  constructor(
    private readonly store: LostTurnsStore,
    private readonly starter: TurnStarter,
    private readonly slots: TurnSlots,
    private readonly running: RunningTurns,
    private readonly tokens: TokenStore,
    private readonly approvals: ToolApprovals,
    private readonly sources: ToolSources,
    private readonly readiness: Readiness,
    private readonly due: DueWork,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  onModuleInit(): void {
    this.due.watch({
      question: ANY_TO_TAKE_UP,
      everyMs: POLL_MS,
      onAnswer: (any) => {
        if (any !== false || this.poller.isFailing) this.wake();
      },
    });
    this.due.watch({
      question: ANY_UNSAID,
      everyMs: UNSAID_POLL_MS,
      onAnswer: (any) => {
        if (any !== true) return;
        this.isUnsaid = true;
        this.wake();
      },
    });
    this.approvals.onAnswer(() => this.wake());
    this.poller.start(Number.POSITIVE_INFINITY);
  }

  /** There may be a turn to take up. */
  wake(): void {
    this.poller.wake();
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
  }

  private async look(): Promise<void> {
    this.areMoreDue = false;
    const isDraining = (): boolean => this.readiness.isDraining;
    if (isDraining() || !this.sources.areSettled) return;
    const { isUnsaid } = this;
    // Before the statement: a wake that comes meanwhile is for the next look.
    this.isUnsaid = false;
    await this.store.wakeOverdue(isUnsaid);
    const due = await this.store.due(MAX_AT_ONCE);
    let taken = 0;
    for (const turn of due) {
      if (isDraining() || !this.slots.tryAcquire()) return;
      const isTaken = await this.goOn(turn).catch((error: unknown) => this.logFailure(turn, error));
      if (isTaken === true) taken += 1;
    }
    this.areMoreDue = due.length === MAX_AT_ONCE && taken > 0;
  }

  /** A turn that fails keeps no other from continuing. */
  private logFailure({ sessionId, turnId }: LostTurn, error: unknown): void {
    this.logger.warn('a turn of a lost replica could not be taken up; will retry', {
      session_id: sessionId,
      turn_id: turnId,
      error: String(error),
    });
  }

  private async goOn(turn: LostTurn): Promise<boolean> {
    const found = await this.slots.holdFor(async () => {
      const isRevoked = (await this.tokens.endedAmong(ownersOf(turn.origin.caller))).size > 0;
      const taken = await this.store.takeUp(turn);
      return taken && { taken, isRevoked };
    });
    if (found === undefined) return false;
    const { taken, isRevoked } = found;
    const stop = isRevoked ? new TurnOfRevokedToken() : taken.isCancelled ? new TurnStopped() : undefined;
    const { sessionId: session_id, turnId: turn_id } = turn;
    this.logger.info(
      `turn taken up in session ${session_id}: its replica was lost, or what it waited for has come`,
      {
        session_id,
        turn_id,
        attempt: taken.attempt,
        steps: taken.steps.length,
      },
    );
    this.starter.goOn(taken, turn.origin.caller);
    // Before its first call of a model or a tool.
    if (stop !== undefined) this.running.abort(session_id, stop);
    return true;
  }
}
