import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { Database } from '../../platform/database/database.js';
import type { RowOfStatement } from '../../platform/database/statement.js';
import { storableText } from '../../platform/database/storable-text.js';
import { EventSignal } from '../../platform/events/event.store.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import type { ToolCallRecord } from '../tools/tools.api.js';
import { apiTokenOf, type TurnSpending } from '../usage/usage.api.js';
import { FORGET_SPENDING } from './limits/spending.sql.js';
import type { Message } from './message.js';
import type { TurnOutcome } from './turn.js';
import * as end from './turn-end.sql.js';
import { ENDED_NOTE, INTERRUPTED_NOTE, leaseParams, type TurnEnding, type TurnLease } from './turn-lease.js';
import { TurnMetrics } from './turn-metrics.js';
import { LEAVE_QUEUES_EXPIRED } from './turn-start.sql.js';

/** A turn whose replica was gone, and how it was closed. */
export type RecoveredTurn = RowOfStatement<typeof end.INTERRUPT_LOST>;

/** What a turn used, and whose token asked for it. */
export interface TurnBill {
  readonly spending: TurnSpending;
  readonly caller: Pick<Caller, 'tokenId' | 'tokenName'>;
}

/** The statements that end turns: with an answer, without one, and those whose replica is gone. */
@Injectable()
export class TurnEndingsStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
    private readonly signal: EventSignal,
    private readonly settings: Settings,
    private readonly metrics: TurnMetrics,
  ) {}

  /** Stores the answer. Undefined when the lease was lost: then nothing was written. */
  async complete(lease: TurnLease, outcome: TurnOutcome, bill: TurnBill): Promise<Message | undefined> {
    const id = newId('msg');
    const content = storableText(outcome.content);
    const { input, output } = outcome.usage;
    const [row] = await this.database.query(end.COMPLETE, {
      ...{ ...leaseParams(lease, this.replica), answer: id, content },
      ...outcomeParams(outcome),
      toolFacts: factsJson(outcome.toolCalls.filter(({ status }) => status !== 'pending')),
      ...billParams(bill),
      withContent: this.settings.current.hooks.include_content,
      finishReason: outcome.finishReason,
      awaits: outcome.openCalls === undefined ? null : newId('msg'),
    });
    if (row === undefined) return undefined;
    this.signal.queued(row.deliveries);
    const { toolCalls, model, finishReason, usage } = outcome;
    return {
      id,
      role: 'assistant',
      content,
      attachments: [],
      toolCalls,
      tokensUsed: input + output,
      model,
      incomplete: null,
      finishReason,
      usageEstimated: usage.estimated === true,
      createdAt: row.created_at,
      usage,
    };
  }

  /** Ends a turn that has no whole answer, and keeps what it had said. False when the lease was lost. */
  async close(
    lease: TurnLease,
    { how, reason, error }: TurnEnding,
    said: TurnOutcome,
    bill: TurnBill,
  ): Promise<boolean> {
    const [closed] = await this.database.query(end.CLOSE, {
      ...{ ...leaseParams(lease, this.replica), how, reason, failure: JSON.stringify(error) },
      answer: isWorthStoring(said) ? newId('msg') : null,
      content: storableText(said.content),
      ...outcomeParams(said),
      toolFacts: factsJson(said.toolCalls),
      ...billParams(bill),
    });
    this.signal.queued(closed?.deliveries);
    return closed !== undefined;
  }

  /** Deletes usage of API tokens that is too old for any budget. */
  async forgetSpending(): Promise<void> {
    await this.database.query(FORGET_SPENDING);
  }

  /**
   * Closes the turns whose replica is gone, and deletes messages that nobody waits for.
   * @returns the closed turns
   */
  async recover(): Promise<RecoveredTurn[]> {
    await this.database.query(LEAVE_QUEUES_EXPIRED);
    const ids = Array.from({ length: end.MAX_RECOVERED }, () => newId('msg'));
    const closed = await this.database.query(end.INTERRUPT_LOST, {
      ...{ ids, note: INTERRUPTED_NOTE, endedNote: ENDED_NOTE },
      mayResume: this.settings.current.agent.resume,
      maxAttempts: this.settings.current.turns.max_attempts,
    });
    this.signal.queued(closed.reduce((sum, { deliveries }) => sum + deliveries, 0));
    this.metrics.lost(closed.filter(({ status }) => status === 'interrupted').length);
    return closed;
  }
}

function outcomeParams({ toolCalls, model, usage }: TurnOutcome) {
  const { input, output, estimated } = usage;
  return { toolCalls: JSON.stringify(toolCalls), model, input, output, isEstimated: estimated === true };
}

function billParams({ spending, caller }: TurnBill) {
  return { usage: JSON.stringify(spending.rows()), apiToken: apiTokenOf(caller) };
}

/** An answer that never began is not stored as a message. */
function isWorthStoring({ content, toolCalls }: TurnOutcome): boolean {
  return content.trim() !== '' || toolCalls.length > 0;
}

/** What events say about tool calls, without arguments and results. */
function factsJson(calls: readonly ToolCallRecord[]): string {
  return JSON.stringify(
    calls.map(({ id, name, status, durationMs }) => ({ id, name, status, duration_ms: durationMs })),
  );
}
