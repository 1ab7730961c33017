import { randomUUID } from 'node:crypto';
import type OpenAI from 'openai';
import { storableJson } from '../../../../platform/database/storable-text.js';
import type { FinishReason, ModelEvent, ModelToolCall, ModelUsage } from '../../model-provider.port.js';
import { AnswerMeter, countedUsage, tokenCount } from '../protocol/answer-meter.js';
import type { ProviderState } from '../protocol/provider-state.js';
import { parseEvent, type Unchecked } from '../protocol/server-events.js';
import { parseToolArguments } from '../protocol/tool-arguments.js';
import { WireFault } from '../protocol/wire-fault.js';

type Chunk = OpenAI.Chat.ChatCompletionChunk;
type Choice = Unchecked<Chunk['choices'][number]>;
type WireReason = NonNullable<Chunk['choices'][number]['finish_reason']>;
type OpenAiChunk = Chunk & { readonly error?: string | OpenAI.ErrorObject };
type CallDelta = Unchecked<OpenAI.Chat.ChatCompletionChunk.Choice.Delta.ToolCall> & {
  readonly extra_content?: unknown;
};

/**
 * What compatible servers add to an assistant's message and want back with its calls: reasoning under one of two names
 * or as details, and data of single calls, by their ids.
 */
export interface ReasoningFields {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly unknown[];
  readonly extra_content?: Readonly<Record<string, unknown>>;
}

const OWN_REASONS = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
} as const satisfies Record<WireReason, FinishReason>;
/** What compatible servers report for an answer that reached a limit. */
const COMPATIBLE_REASONS = { model_length: 'length', max_tokens: 'length' } as const;

const REASONS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ...Object.entries(OWN_REASONS),
  ...Object.entries(COMPATIBLE_REASONS),
]);

/** One answer of Chat Completions, built up from its chunks. */
export class ChatAnswer {
  private readonly meter = new AnswerMeter();
  private readonly calls = new ChatToolCalls(this.meter);
  private readonly reasoning = new ChatReasoning(this.meter);
  private usage: ModelUsage = { input: 0, output: 0 };
  private reason: FinishReason | undefined;
  private refused = false;
  private answeredBy: string;

  constructor(private readonly model: string) {
    this.answeredBy = model;
  }

  /** Its end was marked: a connection that breaks now loses at most the usage. */
  isComplete(): boolean {
    return this.reason !== undefined;
  }

  hasBegunCall(): boolean {
    return this.calls.hasAny;
  }

  /** What the event adds to the neutral stream. `[DONE]` counts as the end also for servers that give no reason. */
  *add(data: string): Generator<ModelEvent> {
    if (data === '[DONE]') {
      this.reason ??= 'stop';
      return;
    }
    const chunk = parseEvent<OpenAiChunk>(data);
    if (chunk.error !== undefined && chunk.error !== null) throw brokenOff(chunk.error);
    if (chunk.model) this.answeredBy = chunk.model;
    if (chunk.usage) this.usage = usageOf(chunk.usage);
    const choice = chunk.choices?.[0];
    if (choice) yield* this.addChoice(choice);
  }

  /** Calls are complete only at the end: their deltas may come interleaved. */
  *end(): Generator<ModelEvent> {
    const calls = this.calls.complete();
    for (const call of calls) yield { type: 'tool_call', call };
    const state = calls.length > 0 ? this.state(calls) : undefined;
    yield {
      type: 'end',
      finishReason: this.finishReason(calls.length > 0),
      usage: this.usage,
      model: this.answeredBy,
      ...(state !== undefined && { providerState: state }),
    };
  }

  private *addChoice({ delta, finish_reason }: Choice): Generator<ModelEvent> {
    for (const call of delta?.tool_calls ?? []) this.calls.add(call);
    if (finish_reason) this.reason = REASONS.get(finish_reason) ?? 'stop';
    if (delta?.refusal) this.refused = true;
    const thought = this.reasoning.add(delta);
    if (thought !== '') yield { type: 'reasoning', text: thought };
    const text = textOf(delta?.content) + textOf(delta?.refusal);
    this.meter.text(text);
    if (text !== '') yield { type: 'token', text };
  }

  private state(calls: readonly ModelToolCall[]): ProviderState<ReasoningFields> | undefined {
    const extras = this.calls.extras(calls);
    const fields = {
      ...this.reasoning.fields(),
      ...(Object.keys(extras).length > 0 && { extra_content: extras }),
    };
    if (Object.keys(fields).length === 0) return undefined;
    return { kind: 'openai', wire: 'chat', model: this.model, items: [storableJson(fields)] };
  }

  private finishReason(calledTools: boolean): FinishReason {
    if (this.refused) return 'refusal';
    if (this.reason === 'length' || this.reason === 'content_filter') return this.reason;
    // Compatible servers may end with `stop` after tool calls, or the reverse.
    return calledTools ? 'tool_calls' : 'stop';
  }
}

/** Reasoning as compatible servers stream it; OpenAI itself does not show it on this wire. */
class ChatReasoning {
  private readonly texts = { reasoning_content: '', reasoning: '' };
  private readonly details: unknown[] = [];

  constructor(private readonly meter: AnswerMeter) {}

  /** Returns the text that is added. Servers that send both names send the same text in both. */
  add(delta: Readonly<Record<string, unknown>> | null | undefined): string {
    const content = textOf(delta?.['reasoning_content']);
    const reasoning = textOf(delta?.['reasoning']);
    const details = delta?.['reasoning_details'];
    if (content === '' && reasoning === '' && details === undefined) return '';
    this.meter.text(content + reasoning);
    this.texts.reasoning_content += content;
    this.texts.reasoning += reasoning;
    if (Array.isArray(details)) {
      this.meter.text(JSON.stringify(details));
      this.details.push(...(details as unknown[]));
    }
    return content || reasoning;
  }

  fields(): ReasoningFields {
    const { reasoning_content, reasoning } = this.texts;
    return {
      ...(reasoning_content !== '' && { reasoning_content }),
      ...(reasoning !== '' && { reasoning }),
      ...(this.details.length > 0 && { reasoning_details: this.details }),
    };
  }
}

interface PartialCall {
  id: string;
  name: string;
  pieces: string[];
  extra: unknown;
}

/** Assembles tool calls from deltas, which may come interleaved. */
class ChatToolCalls {
  private readonly calls: PartialCall[] = [];
  private readonly current = new Map<number, PartialCall>();

  constructor(private readonly meter: AnswerMeter) {}

  get hasAny(): boolean {
    return this.calls.length > 0;
  }

  add(delta: CallDelta): void {
    const call = this.callOf(delta.index ?? 0, delta.id ?? '');
    if (call.id === '') call.id = delta.id ?? '';
    if (call.name === '') call.name = delta.function?.name ?? '';
    if (delta.extra_content !== undefined) {
      this.meter.text(JSON.stringify(delta.extra_content));
      call.extra = delta.extra_content;
    }
    const piece = delta.function?.arguments ?? '';
    this.meter.arguments(piece);
    call.pieces.push(piece);
  }

  complete(): ModelToolCall[] {
    return this.calls.map(({ id, name, pieces }) => ({
      id: id === '' ? `call_${randomUUID()}` : id,
      name,
      ...parseToolArguments(pieces.join('')),
    }));
  }

  /** What came with the calls, such as signatures of their thoughts, by the calls' ids. */
  extras(calls: readonly ModelToolCall[]): Record<string, unknown> {
    const entries = calls.map(({ id }, index) => [id, this.calls[index]?.extra] as const);
    return Object.fromEntries(entries.filter(([, extra]) => extra !== undefined));
  }

  /** Some compatible servers number every call 0 and tell them apart by id only. */
  private callOf(index: number, id: string): PartialCall {
    const known = this.current.get(index);
    if (known !== undefined && (id === '' || known.id === '' || known.id === id)) return known;
    this.meter.call();
    const call: PartialCall = { id, name: '', pieces: [], extra: undefined };
    this.calls.push(call);
    this.current.set(index, call);
    return call;
  }
}

function usageOf(usage: Unchecked<OpenAI.CompletionUsage>): ModelUsage {
  return countedUsage({
    input: tokenCount(usage.prompt_tokens),
    output: tokenCount(usage.completion_tokens),
    cachedInput: tokenCount(usage.prompt_tokens_details?.cached_tokens),
    cacheWrite: tokenCount(usage.prompt_tokens_details?.cache_write_tokens),
    reasoning: tokenCount(usage.completion_tokens_details?.reasoning_tokens),
  });
}

function brokenOff(error: NonNullable<Unchecked<OpenAiChunk>['error']>): WireFault {
  if (typeof error === 'string') return new WireFault({ kind: 'event', word: undefined, sentence: error });
  const word = error.code ?? error.type ?? undefined;
  return new WireFault({ kind: 'event', word, sentence: error.message ?? undefined });
}

/** Some compatible servers send parts where the wire has text; those are not part of the answer's text. */
function textOf(content: unknown): string {
  return typeof content === 'string' ? content : '';
}
