import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Readiness } from '../../../platform/lifecycle/readiness.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { DueWork } from '../../../platform/runtime/due-work.service.js';
import { Poller } from '../../../platform/runtime/poller.js';
import { Settings } from '../../../platform/settings/settings.js';
import { ToolSources } from '../../tools/tools.api.js';
import type { ClaimedTurn } from '../claimed-turn.js';
import { allowanceOf } from '../limits/turn-allowance.js';
import { TurnSlots } from '../limits/turn-slots.js';
import { originOf } from '../lost/turn-origin.js';
import type { NewUserMessage } from '../message.js';
import { RunningTurns } from '../running-turns.js';
import { TurnStore } from '../turn.store.js';
import { TurnStarter } from '../turn-starter.service.js';
import { ANY_DUE } from './accepted-turns.sql.js';
import { type AcceptedTurn, AcceptedTurnsStore } from './accepted-turns.store.js';

/** How often to check while messages are known to wait, and at least how often to check whether any message is due. */
const HURRIED_MS = 200;
const POLL_MS = 1000;

/**
 * Answers messages that were accepted (202) while their session was busy. They are rows: any replica that sees a
 * message at the head of its session's line may take it, even when the replica that accepted it is gone.
 */
@Injectable()
export class AcceptedTurns implements OnModuleInit, OnModuleDestroy {
  private readonly logger: Logger;
  private someWait = false;
  private readonly poller = new Poller({
    everyMs: () => (this.someWait ? HURRIED_MS : Number.POSITIVE_INFINITY),
    look: () => this.poll(),
    failed: (error) =>
      this.logger.warn('accepted messages cannot be answered; answering resumes when the database does', {
        error: String(error),
      }),
  });

  constructor(
    private readonly accepted: AcceptedTurnsStore,
    private readonly turns: TurnStore,
    private readonly starter: TurnStarter,
    private readonly slots: TurnSlots,
    private readonly running: RunningTurns,
    private readonly settings: Settings,
    private readonly readiness: Readiness,
    private readonly due: DueWork,
    private readonly sources: ToolSources,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  onModuleInit(): void {
    this.running.onEnd(() => {
      if (this.someWait) this.poller.wakeWithin(0);
    });
    this.due.watch({
      question: ANY_DUE,
      everyMs: POLL_MS,
      params: () => ({ acceptedTimeoutSecs: this.settings.current.agent.session_timeout_secs }),
      onAnswer: (anyDue) => {
        if (anyDue !== false || this.poller.isFailing) this.poller.wakeWithin(0);
      },
    });
    this.poller.start(Number.POSITIVE_INFINITY);
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
  }

  /** A message was accepted here. */
  expect(): void {
    this.someWait = true;
    this.poller.wakeWithin(HURRIED_MS);
  }

  private async poll(): Promise<void> {
    if (this.readiness.isDraining || !this.sources.areSettled) return;
    const due = await this.accepted.due(this.settings.current.agent.session_timeout_secs);
    for (const turn of due) await this.answer(turn);
    if (due.length > 0 || this.someWait) this.someWait = await this.accepted.any();
  }

  private async answer(turn: AcceptedTurn): Promise<void> {
    if (turn.isTooLate) {
      await this.accepted.cancel(turn);
      return;
    }
    const message = await this.accepted.message(turn);
    if (message === undefined || this.readiness.isDraining || !this.slots.tryAcquire()) return;
    const begun = await this.slots.holdFor(() => this.start(turn, message));
    if (begun !== undefined) this.starter.start(begun, message, turn.caller);
  }

  /** Undefined when another replica was faster, or when the API token already runs as many turns as it may. */
  private start(turn: AcceptedTurn, message: NewUserMessage): Promise<ClaimedTurn | undefined> {
    const { agent, limits } = this.settings.current;
    // Its token limits were checked when it was accepted; budgets are checked before its first model call.
    const allowance = { ...allowanceOf(limits, turn.caller, []), tokenDailyTokens: 0, sessionDailyTokens: 0 };
    const { session_timeout_secs: timeoutSecs, history_max_messages: historyMessages } = agent;
    const origin = originOf(message, turn.caller);
    return this.turns.startWaiting(turn, { timeoutSecs, historyMessages, allowance, limits, origin });
  }
}
