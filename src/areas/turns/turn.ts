import type { AgentSettings } from '../../platform/settings/agent-settings.js';
import type {
  FinishReason,
  ModelChain,
  ModelMessage,
  ModelName,
  ModelTool,
  ModelToolCall,
  ModelUsage,
} from '../models/models.api.js';
import type { ToolCallRecord, ToolContext, ToolEvent } from '../tools/tools.api.js';
import type { MessageOptions } from './message-options.js';
import type { ApprovalWaits } from './rounds/approval-waits.js';
import type { TurnStep, TurnStepLog } from './rounds/turn-steps.store.js';
import type { TurnAccount } from './turn-account.js';

/** The agent of a turn and its models, by the settings of the moment when the turn started. */
export interface TurnAgent {
  readonly settings: AgentSettings;
  readonly chain: ModelChain;
}

/** What one turn starts from. */
export interface TurnInput {
  readonly context: ToolContext;
  readonly system: string;
  /** Applies to this turn only: it comes after everything else, and is not part of the prefix. */
  readonly trailing: string;
  readonly agent: TurnAgent;
  readonly turnId: string;
  /** The history that is given to the model, the new user message last. */
  readonly messages: readonly ModelMessage[];
  /** The same for all calls of the turn, sorted by name. */
  readonly tools: readonly ModelTool[];
  readonly options: MessageOptions;
  /** What was used before its first round. */
  readonly spent: ModelUsage;
  /** Counts what its calls cost. */
  readonly account: TurnAccount;
  /** What it had done before it was taken up; empty for a turn that begins. */
  readonly done: readonly TurnStep[];
  /** Stores what it asks of tools. */
  readonly steps: TurnStepLog;
  /** Which of its calls wait for a person. */
  readonly waits: ApprovalWaits;
  /** Whether nothing of it is stored: results of the gateway's own tools then last no longer than the turn. */
  readonly isUnstored?: boolean;
}

/** The result of one turn. */
export interface TurnOutcome {
  readonly content: string;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly usage: ModelUsage;
  /** The model that answered, as the provider names it. */
  readonly model: string;
  /** Why its last call stopped; null when that did not come to its end. */
  readonly finishReason: FinishReason | null;
  /** Calls of tools that the caller runs: the turn ended with them, and the next message brings what they returned. */
  readonly openCalls?: readonly ModelToolCall[];
}

/** What a viewer of a running turn sees. */
export type TurnEvent =
  | { readonly type: 'token'; readonly text: string }
  /** The model's thoughts; only when its agent shows them. */
  | { readonly type: 'reasoning'; readonly text: string }
  | ToolEvent
  /**
   * Another replica continues the turn (attempt from 2): what was shown is void, and its stored part is shown again.
   */
  | { readonly type: 'restarted'; readonly attempt: number }
  /** A model call of the turn has ended: its usage. */
  | {
      readonly type: 'usage';
      readonly usage: ModelUsage;
      /** The model as answers name it. */
      readonly model: string;
      /** The model that was asked: by the names of the settings, and as its provider names it. */
      readonly asked: ModelName & { readonly answered: string };
    };

/** Called for every event; a promise makes the turn wait until the viewer has caught up. */
export type TurnListener = (event: TurnEvent) => void | Promise<void>;
