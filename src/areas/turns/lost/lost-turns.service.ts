import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Readiness } from '../../../platform/lifecycle/readiness.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { DueWork } from '../../../platform/runtime/due-work.service.js';
import { ownersOf } from '../../../platform/tokens/caller.js';
import { TokenStore } from '../../../platform/tokens/token.store.js';
import { TurnSlots } from '../limits/turn-slots.js';
import { RunningTurns } from '../running-turns.js';
import { TurnStarter } from '../turn-starter.service.js';
import { TurnOfRevokedToken, TurnStopped } from '../turns.errors.js';
import { LOST } from './lost-turns.sql.js';
import { type LostTurn, LostTurnsStore } from './lost-turns.store.js';

const POLL_MS = 1000;
/** Others take their share. */
const MAX_AT_ONCE = 16;

/**
 * Goes on with turns whose replica died or stopped, from their last stored step. Whichever replica sees first that a lease has
 * run out takes the turn; those that may not be tried again are closed as interrupted by the sweeper.
 */
@Injectable()
export class LostTurns implements OnModuleInit, OnModuleDestroy {
  private readonly logger: Logger;
  private looking: Promise<void> | undefined;
  private stopped = false;
  private failing = false;

  constructor(
    private readonly store: LostTurnsStore,
    private readonly starter: TurnStarter,
    private readonly slots: TurnSlots,
    private readonly running: RunningTurns,
    private readonly tokens: TokenStore,
    private readonly readiness: Readiness,
    private readonly due: DueWork,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  onModuleInit(): void {
    this.due.watch({
      name: 'lost_turns',
      everyMs: POLL_MS,
      sql: `EXISTS (SELECT 1 ${LOST})`,
      onAnswer: (any) => {
        if (any === false && !this.failing) return;
        this.looking ??= this.look().finally(() => {
          this.looking = undefined;
        });
      },
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    await this.looking;
  }

  private async look(): Promise<void> {
    if (this.readiness.isDraining || this.stopped) return;
    try {
      for (const turn of await this.store.due(MAX_AT_ONCE)) {
        if (!this.slots.tryAcquire()) return;
        await this.goOn(turn).catch((error: unknown) => this.logFailure(turn, error));
      }
      this.failing = false;
    } catch (error) {
      if (!this.failing)
        this.logger.warn(
          'turns of lost replicas cannot be taken up; that resumes when the database answers',
          {
            error: String(error),
          },
        );
      this.failing = true;
    }
  }

  /** One that fails keeps no other from going on. */
  private logFailure({ sessionId, turnId }: LostTurn, error: unknown): void {
    this.logger.warn('a turn of a lost replica could not be taken up; will retry', {
      session_id: sessionId,
      turn_id: turnId,
      error: String(error),
    });
  }

  private async goOn(turn: LostTurn): Promise<void> {
    const isRevoked = (await this.tokens.endedAmong(ownersOf(turn.origin.caller))).size > 0;
    const taken = await this.slots.holdFor(() => this.store.takeUp(turn));
    if (taken === undefined) return;
    const stop = isRevoked ? new TurnOfRevokedToken() : taken.isCancelled ? new TurnStopped() : undefined;
    const { sessionId: session_id, turnId: turn_id } = turn;
    this.logger.info(`turn taken up in session ${session_id}: its replica was lost`, {
      session_id,
      turn_id,
      attempt: taken.attempt,
      steps: taken.steps.length,
    });
    this.starter.goOn(taken, turn.origin.caller);
    // Before its first call of a model or a tool.
    if (stop !== undefined) this.running.abort(session_id, stop);
  }
}
