/** A piece of what a user says: text, or an attachment in base64. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mimeType: string; readonly data: string }
  | { readonly type: 'file'; readonly name: string; readonly mimeType: string; readonly data: string };

/** A tool the model asked for. `problem` is set when its arguments were not a JSON object. */
export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly problem?: string;
}

export interface ModelToolResult {
  readonly callId: string;
  readonly content: string;
  /**
   * Pictures and files that the tool returned besides its text; a wire that cannot carry them describes them in words.
   */
  readonly parts?: readonly ContentPart[];
  readonly isError: boolean;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly parts: readonly ContentPart[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly ModelToolCall[];
      /**
       * What this provider wants echoed back within the turn (reasoning, thinking blocks): JSON that nothing else
       * reads.
       */
      readonly providerState?: unknown;
    }
  | { readonly role: 'tool'; readonly results: readonly ModelToolResult[] };

export interface ModelTool {
  /** Provider-safe: `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** How much the model thinks before it answers; `auto` is the provider's own default. */
export type ReasoningEffort = 'auto' | 'none' | 'minimal' | 'low' | 'medium' | 'high';

/** Whether the model may call tools, has to call one, or which one it has to call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** How the next token is chosen; absent options are the provider's own defaults. */
export interface SamplingOptions {
  /** 0 to 2. */
  readonly temperature?: number;
  /** 0 to 1. */
  readonly topP?: number;
  /** At most 4 texts, each of which ends the answer. */
  readonly stop?: readonly string[];
  readonly toolChoice?: ToolChoice;
  /** An answer calls one tool at most. */
  readonly parallelToolCalls?: false;
}

/** The answer has to be JSON of this schema. */
export interface ResponseFormat {
  /** `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string;
  /** The purpose of the answer, for the model. */
  readonly description?: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly strict?: boolean;
}

/**
 * One call. `system`, `tools` and `messages` are sent in this order and begin, byte for byte, as in the call before;
 * providers cache such a prefix.
 */
export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** Sorted by name. */
  readonly tools: readonly ModelTool[];
  readonly maxOutputTokens: number;
  /** What applies to this call only (recalled memories, skills, the date): sent after everything else, never cached. */
  readonly trailing?: string;
  /** The session: calls of one conversation share a cache. */
  readonly conversationId?: string;
  readonly reasoning?: ReasoningEffort;
  /** Whether to pass on the model's thoughts, where its provider shows them only on request; false by default. */
  readonly showReasoning?: boolean;
  readonly sampling?: SamplingOptions;
  readonly responseFormat?: ResponseFormat;
}

/** Tokens of one call, or of all calls of a turn. */
export interface ModelUsage {
  /** All input, cached or not. */
  readonly input: number;
  /** All output, reasoning included. */
  readonly output: number;
  /** Part of `input`: read from the provider's cache; absent is 0. */
  readonly cachedInput?: number;
  /** Part of `input`: written to the provider's cache; absent is 0. */
  readonly cacheWrite?: number;
  /** Part of `output`: the model's thoughts; absent is 0. */
  readonly reasoning?: number;
  /** At least one of the numbers is an estimate, because the provider sent none. */
  readonly estimated?: boolean;
}

/**
 * Why a model stopped: it had finished (`stop`), it wants tools to run (`tool_calls`), it reached a limit of tokens
 * (`length`), a filter of its provider withheld the rest (`content_filter`), or it declined (`refusal`). The set is
 * closed: adapters map their provider's reasons to these.
 */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal';

/** One neutral stream for every provider: tokens, complete tool calls, then exactly one `end`. */
export type ModelEvent =
  | { readonly type: 'token'; readonly text: string }
  /** The model's thoughts, as far as its provider shows them. */
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly call: ModelToolCall }
  | {
      readonly type: 'end';
      readonly finishReason: FinishReason;
      /** 0 for what the provider did not count. */
      readonly usage: ModelUsage;
      readonly model: string;
      readonly providerState?: unknown;
    };

/** The options of a call that not every model supports. */
export type ModelOptions = Pick<ModelRequest, 'model' | 'reasoning' | 'sampling' | 'responseFormat'>;

export interface ModelCallOptions {
  /** Aborting it ends the call at once; the iterator then throws the signal's reason. */
  readonly signal: AbortSignal;
  /** From the call to the first event of an attempt; retries are not included. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of a stream that has begun. */
  readonly idleTimeoutMs: number;
  /** Called when the first piece of a tool call arrives; the event follows only when the call is complete. */
  readonly onBegun?: () => void;
  /** Called when the provider has sent any event, even one without content: it works on the call. */
  readonly onHeard?: () => void;
  /** Called with what the provider has counted when an attempt ends, however it ends. */
  readonly onCounted?: (usage: ModelUsage) => void;
}

/** A host name or address, and a TCP port. */
export interface ProviderAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Speaks to one model service. Retries only while nothing was yielded.
 * Throws `ProviderFailed` (502) or `ProviderTimedOut` (504); never another model's answer.
 */
export abstract class ModelProvider {
  /** Where its calls go; undefined for a provider that makes no calls. */
  readonly address: ProviderAddress | undefined = undefined;

  /** `anthropic`, `openai` or `offline`. */
  abstract readonly name: string;
  abstract readonly defaultModel: string;
  abstract stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent>;

  /**
   * Which of these options this model does not support: a sentence for each, which names the option; empty when all are
   * fine.
   */
  unsupported(_options: ModelOptions): readonly string[] {
    return [];
  }

  /** Whether this model gets sounds of this media type, and not only a note about them. */
  hears(_mimeType: string, _model: string): boolean {
    return false;
  }
}
