import type { RowOf } from '../../platform/database/sql-types.js';
import type { HistoryMessage } from './message.js';
import type { ContextCut } from './prompt/context-cut.js';
import type { Summary } from './prompt/context-cuts.store.js';
import type { TurnLease } from './turn-lease.js';
import type { CLAIMED_ROW } from './turn-start.sql.js';

/** The row of the statements that begin a turn; with spending of budgets only if the turn is limited. */
export type ClaimedRow = RowOf<typeof CLAIMED_ROW> & { readonly budgets_spent?: readonly number[] };

/** A turn that has its session, and what it needs to run. */
export interface ClaimedTurn {
  readonly lease: TurnLease;
  readonly userId: string;
  readonly channel: string;
  /** The name of the agent that answers. */
  readonly agent: string;
  readonly systemPrompt: string | null;
  readonly model: string | null;
  /** Oldest first, without the message that this turn answers and without what was cut. */
  readonly history: readonly HistoryMessage[];
  /** The place of the message that this turn answers. */
  readonly seq: number;
  /** Which part of the history is no longer sent to the model. */
  readonly cut: ContextCut;
  /** The newest summary of what is cut. */
  readonly summary: Summary | undefined;
  /** Whether viewers on other replicas want to see it. */
  readonly isWatched: boolean;
  /** Whether any memories of its user are stored. */
  readonly hasMemories: boolean;
  /**
   * The state of its budgets when it began, as far as they were requested: `budgetsJson`, and the US dollars spent of
   * each.
   */
  readonly budgets?: { readonly budgets: string; readonly spent: readonly number[] } | undefined;
}

export function claimedTurn(
  turn: Pick<TurnLease, 'sessionId' | 'turnId' | 'userMessageId'>,
  row: ClaimedRow,
  budgets: string,
): ClaimedTurn {
  return {
    lease: {
      sessionId: turn.sessionId,
      turnId: turn.turnId,
      userMessageId: turn.userMessageId,
      fence: row.fence,
    },
    userId: row.user_id,
    channel: row.channel,
    agent: row.agent,
    systemPrompt: row.system_prompt,
    model: row.model,
    history: row.history.reverse(),
    seq: row.message_count,
    cut: { messages: row.messages_cut, results: row.results_cut },
    summary: row.summary ?? undefined,
    isWatched: row.watched,
    hasMemories: row.remembered,
    budgets: row.budgets_spent && { budgets, spent: row.budgets_spent },
  };
}
