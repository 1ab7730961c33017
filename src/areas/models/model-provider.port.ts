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
  /** Pictures and files that the tool returned beside its text; a wire that cannot carry them says so in words. */
  readonly parts?: readonly ContentPart[];
  readonly isError: boolean;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly parts: readonly ContentPart[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly ModelToolCall[];
      /** What this provider wants echoed back within the turn (reasoning, thinking blocks): JSON, opaque to everyone else. */
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

/** Whether tools may be called, have to be, or which one has to be. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** How the next token is chosen; what is absent is the provider's own default. */
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

/** The answer is to be JSON of this schema. */
export interface ResponseFormat {
  /** `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string;
  /** What the answer is for, as the model is told. */
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
  /** What holds for this call only (recalled memories, skills, the date): sent behind everything else, never cached. */
  readonly trailing?: string;
  /** The session: calls of one conversation share a cache. */
  readonly conversationId?: string;
  readonly reasoning?: ReasoningEffort;
  /** Whether what the model thinks is to be told, where its provider shows it only when asked; false by default. */
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
  /** Of `input`: what was read from the provider's cache; absent is 0. */
  readonly cachedInput?: number;
  /** Of `input`: what was written to the provider's cache; absent is 0. */
  readonly cacheWrite?: number;
  /** Of `output`: what the model thought; absent is 0. */
  readonly reasoning?: number;
  /** At least one of the numbers is an estimate, because the provider sent none. */
  readonly estimated?: boolean;
}

/**
 * Why a model stopped: it had said what it wanted (`stop`), it wants tools to be run (`tool_calls`), it met a limit of
 * tokens (`length`), a filter of its provider took the rest away (`content_filter`), or it declined (`refusal`). The set
 * is closed: adapters map what their provider says to one of these.
 */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal';

/** One neutral stream for every provider: tokens, complete tool calls, then exactly one `end`. */
export type ModelEvent =
  | { readonly type: 'token'; readonly text: string }
  /** What the model thinks, as far as its provider shows it. */
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly call: ModelToolCall }
  | {
      readonly type: 'end';
      readonly finishReason: FinishReason;
      /** 0 is what the provider did not count. */
      readonly usage: ModelUsage;
      readonly model: string;
      readonly providerState?: unknown;
    };

/** The options of a call that not every model takes. */
export type ModelOptions = Pick<ModelRequest, 'model' | 'reasoning' | 'sampling' | 'responseFormat'>;

export interface ModelCallOptions {
  /** Aborting it ends the call at once; the iterator then throws the signal's reason. */
  readonly signal: AbortSignal;
  /** From the call (retries included in neither) to the first event of an attempt. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of a stream that has begun. */
  readonly idleTimeoutMs: number;
  /** Called when the first piece of a tool call arrives, which is told as an event only when it is whole. */
  readonly onBegun?: () => void;
  /** Called when the provider has sent an event, be it one that says nothing yet: it works on the call. */
  readonly onHeard?: () => void;
  /** Told what the provider has counted by the time an attempt ends, however it ends. */
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
  /** Where its calls go; undefined for one that calls nobody. */
  readonly address: ProviderAddress | undefined = undefined;

  /** `anthropic`, `openai` or `offline`. */
  abstract readonly name: string;
  abstract readonly defaultModel: string;
  abstract stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent>;

  /** What of these options this model does not take: a sentence for each, naming the option; none when all is well. */
  unsupported(_options: ModelOptions): readonly string[] {
    return [];
  }

  /** Whether this model is given sounds of this media type, and not only a note of them. */
  hears(_mimeType: string, _model: string): boolean {
    return false;
  }
}
