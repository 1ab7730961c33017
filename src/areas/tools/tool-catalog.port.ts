import type { ContentPart, ModelTool } from '../models/models.api.js';
import type { ToolCallStatus } from './tool-call.js';

/** On whose behalf a tool would run. */
export interface ToolContext {
  readonly sessionId: string;
  readonly channel: string;
  /** The name of the agent whose turn it is; absent is `default`. */
  readonly agent?: string;
  /** The user that the session names. */
  readonly userId: string;
  /** The user whom the gateway vouches for (`actingUser`): tools act for them. Absent: nobody. */
  readonly actsFor?: string;
  /** The token that sent the message; absent where none did. */
  readonly token?: { readonly id: string; readonly name: string };
  /** Whether the message came in over the session's channel. Any other came over REST, whatever channel its session names. */
  readonly isFromChannel?: boolean;
}

/** What a tool returns. */
export interface ToolOutput {
  /** What the model is told: the result, or what went wrong. */
  readonly content: string;
  /** Pictures and files beside the text, for the model alone: the history of a session keeps `content`, which names them. */
  readonly parts?: readonly ContentPart[];
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
