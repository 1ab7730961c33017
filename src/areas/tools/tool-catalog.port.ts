import type { ContentPart, FinishReason, ModelMessage, ModelTool } from '../models/models.api.js';
import type { QuestionOutcome, ToolQuestion } from './questions/tool-question.js';
import type { ToolCallStatus } from './tool-call.js';

/** For whom a tool would run. */
export interface ToolContext {
  readonly sessionId: string;
  readonly channel: string;
  /** The name of the agent whose turn it is; absent is `default`. */
  readonly agent?: string;
  /** The user that the session names. */
  readonly userId: string;
  /** The user whom the gateway vouches for (`actingUser`): tools act for them. Absent when there is none. */
  readonly actsFor?: string;
  /** The token with which that user came, sealed for them (`Caller.identityToken`). */
  readonly identityToken?: string;
  /** The token that sent the message; absent where none did. */
  readonly token?: { readonly id: string; readonly name: string };
  /**
   * Whether the message came in over the session's channel. Otherwise it came over REST, whatever channel its session
   * names.
   */
  readonly isFromChannel?: boolean;
  /** Whether the conversation is not stored: then nobody can be asked about a call, and nothing is remembered. */
  readonly isUnstored?: boolean;
  /** The call itself, for tools that report while they run; absent outside of turns. */
  readonly call?: RunningCall;
}

/** A running call. */
export interface RunningCall {
  /** As the model numbered it. */
  readonly id: string;
  /**
   * Asks the people who may write to the session, and waits for the first answer; no answer in time is a no. Throws the
   * signal's reason when it is aborted.
   */
  ask(question: ToolQuestion, signal: AbortSignal): Promise<QuestionOutcome>;
  /**
   * Asks the model of the turn, which pays for it. Throws `SamplingRefused` when that is not possible, what the provider throws,
   * and the signal's reason when it is aborted.
   */
  sample(question: ToolSampling, signal: AbortSignal): Promise<ToolSampled>;
  /** Shows its progress to viewers of the turn. Reports that come too often are left out. */
  progress(progress: CallProgress): void;
  /** How long it may take, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * The task that runs it at its server, also when the replica that made the call has died. Undefined until `keepTask`.
   */
  readonly task: CallTask | undefined;
  /** Stores the task before anybody waits for it. Throws when this replica no longer holds the turn. */
  keepTask(task: CallTask): Promise<void>;
  /** Whether another replica will ask for the stored task when this one stops for that reason. */
  isTakenUpAfter(reason: unknown): boolean;
}

/** A call that its server runs by itself: any replica with this can ask for the result, and makes no second call. */
export interface CallTask {
  /** The server's name for it. */
  readonly id: string;
  /** The session at the server that it belongs to; absent where there are none. */
  readonly session?: string;
}

/** What a tool asks the model of its turn: the messages are the tool's own; nothing of the conversation is added. */
export interface ToolSampling {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** The agent's own limit applies, too. */
  readonly maxOutputTokens: number;
  readonly temperature?: number;
  /** At most 4. */
  readonly stop?: readonly string[];
}

export interface ToolSampled {
  readonly text: string;
  readonly model: string;
  readonly finishReason: FinishReason;
}

/** The model cannot be asked for the tool. The message says why. */
export class SamplingRefused extends Error {
  override readonly name = 'SamplingRefused';
}

/** The progress of a call. */
export interface CallProgress {
  readonly progress: number;
  /** Absent while unknown. */
  readonly total?: number;
  readonly message?: string;
}

/** What a tool returns. */
export interface ToolOutput {
  /** The text for the model: the result, or what went wrong. */
  readonly content: string;
  /**
   * Pictures and files besides the text, for the model only: the history of a session keeps `content`, which names
   * them.
   */
  readonly parts?: readonly ContentPart[];
  /** Files that the tool made for people, where the conversation can carry files. */
  readonly files?: readonly ProducedFile[];
}

/** A file as a tool made it. */
export interface ProducedFile {
  /** As people see it; at most 100 characters, without folders. */
  readonly name: string;
  readonly mimeType: string;
  readonly data: Buffer;
}

export interface ToolAnswer extends ToolOutput {
  readonly status: ToolCallStatus;
}

/**
 * The tools a turn may use, wherever they come from. `call` never throws: an unknown name, wrong arguments and a
 * failing tool are answers that the model can read. It ends promptly when the signal is aborted.
 */
export abstract class ToolCatalog {
  /** Sorted by name. */
  abstract list(context: ToolContext): readonly ModelTool[];
  /** Where a tool comes from: `gateway`, or the name of a tool server or plugin. Undefined for a name that is no tool's. */
  abstract sourceOf(name: string): string | undefined;
  abstract call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    signal: AbortSignal,
  ): Promise<ToolAnswer>;
}

/** What the model is told of a name that is no tool's. */
export function noSuchTool(name: string): ToolAnswer {
  return { status: 'error', content: `There is no tool "${name.slice(0, 64)}".` };
}
