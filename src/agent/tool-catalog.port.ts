import type { ModelTool } from './model-provider.port.js';
import type { ToolCallStatus } from './tool-call.js';

/** On whose behalf a tool would run. */
export interface ToolContext {
  readonly sessionId: string;
  readonly channel: string;
  readonly userId: string;
  /** The token that sent the message; absent where none did. */
  readonly token?: { readonly id: string; readonly name: string };
}

export interface ToolAnswer {
  readonly status: ToolCallStatus;
  /** What the model is told: the result, or what went wrong. */
  readonly content: string;
}

/** What is known of a tool beside what models are told. */
export interface ToolTraits {
  /** Where it comes from: `gateway`, or the name of a tool server or plugin. */
  readonly source: string;
  /** Whether it may destroy something, as far as it says itself. */
  readonly isDestructive: boolean;
}

/**
 * The tools a turn may use, wherever they come from. `call` never throws: an unknown name, wrong arguments and a
 * failing tool are answers that the model can read. It ends promptly when the signal is aborted.
 */
export abstract class ToolCatalog {
  abstract list(context: ToolContext): readonly ModelTool[];
  /** Undefined for a name that is no tool's. */
  abstract traitsOf(name: string): ToolTraits | undefined;
  abstract call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    signal: AbortSignal,
  ): Promise<ToolAnswer>;
}
