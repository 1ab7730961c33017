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

/** The agent of a turn and its models, by the settings of the moment at which the turn started. */
export interface TurnAgent {
  readonly settings: AgentSettings;
  readonly chain: ModelChain;
}

/** What one turn starts from. */
export interface TurnInput {
  readonly context: ToolContext;
  readonly system: string;
  /** What holds for this turn only: it stands behind everything else, and is not part of the prefix. */
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
  /** What its calls cost. */
  readonly account: TurnAccount;
  /** What it had done before it was taken up; empty for one that begins. */
  readonly done: readonly TurnStep[];
  /** Where it writes down what it asks of tools. */
  readonly steps: TurnStepLog;
  /** Which of its calls wait for a person. */
  readonly waits: ApprovalWaits;
  /** Whether nothing of it is stored: results of the gateway's own tools then last no longer than the turn. */
  readonly isUnstored?: boolean;
}

/** What one turn came to. */
export interface TurnOutcome {
  readonly content: string;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly usage: ModelUsage;
  /** The model that answered, as the provider names it. */
  readonly model: string;
  /** Why its last call stopped; null when it did not come to its end. */
  readonly finishReason: FinishReason | null;
  /** Calls of tools that the caller runs: the turn ended with them, and the next message brings what they returned. */
  readonly openCalls?: readonly ModelToolCall[];
}

/** What a spectator of a running turn sees. */
export type TurnEvent =
  | { readonly type: 'token'; readonly text: string }
  /** What the model thinks; told only when its agent shows that. */
  | { readonly type: 'reasoning'; readonly text: string }
  | ToolEvent
  /** Another replica goes on with the turn (attempt from 2): what was shown is void, and is shown again as far as it is stored. */
  | { readonly type: 'restarted'; readonly attempt: number }
  /** A model call of the turn has ended: what it used. */
  | {
      readonly type: 'usage';
      readonly usage: ModelUsage;
      /** The model as answers name it. */
      readonly model: string;
      /** What was asked, by the names of the settings, and the model as its provider names it. */
      readonly asked: ModelName & { readonly answered: string };
    };

/** Called for every event; a promise holds the turn back until the spectator has caught up. */
export type TurnListener = (event: TurnEvent) => void | Promise<void>;
