import type OpenAI from 'openai';
import { storableJson } from '../../../../platform/database/storable-text.js';
import type { FinishReason, ModelEvent, ModelUsage } from '../../model-provider.port.js';
import { AnswerMeter, countedUsage, tokenCount } from '../protocol/answer-meter.js';
import type { ProviderState } from '../protocol/provider-state.js';
import { parseEvent, type Unchecked } from '../protocol/server-events.js';
import { parseToolArguments } from '../protocol/tool-arguments.js';
import { WireFault } from '../protocol/wire-fault.js';

type StreamEvent = OpenAI.Responses.ResponseStreamEvent;
type Response = Unchecked<OpenAI.Responses.Response>;
type OutputItem = OpenAI.Responses.ResponseOutputItem;
type ErrorFacts = {
  readonly code?: string | null;
  readonly type?: string | null;
  readonly message?: string | null;
};

/** Why an answer is incomplete; unknown reasons count as a limit, too. */
const INCOMPLETE: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

/** One answer of the Responses API, built up from its events. */
export class ResponsesAnswer {
  private readonly meter = new AnswerMeter();
  private readonly items: OutputItem[] = [];
  /** Output items whose text has already come in pieces. */
  private readonly spoken = new Set<number>();
  private usage: ModelUsage = { input: 0, output: 0 };
  private reason: FinishReason = 'stop';
  private refused = false;
  private begunCall = false;
  private calledTools = false;
  private complete = false;
  private answeredBy: string;

  constructor(private readonly model: string) {
    this.answeredBy = model;
  }

  isComplete(): boolean {
    return this.complete;
  }

  hasBegunCall(): boolean {
    return this.begunCall;
  }

  /** What the event adds to the neutral stream, often nothing. */
  // eslint-disable-next-line complexity -- one case for each event that says something, and nothing else
  *add(data: string): Generator<ModelEvent> {
    if (this.complete || data === '[DONE]') return;
    const event = parseEvent<StreamEvent>(data);
    switch (event.type) {
      case 'response.output_text.delta':
        yield* this.said('token', event.delta, event.output_index);
        return;
      case 'response.refusal.delta':
        this.refused = true;
        yield* this.said('token', event.delta, event.output_index);
        return;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        yield* this.said('reasoning', event.delta);
        return;
      case 'response.reasoning_summary_part.added':
        if ((event.summary_index ?? 0) > 0) yield* this.said('reasoning', '\n\n');
        return;
      case 'response.output_item.added':
        if (event.item?.type === 'function_call') this.begunCall = true;
        return this.meter.call();
      case 'response.function_call_arguments.delta':
        this.begunCall = true;
        return this.meter.arguments(event.delta ?? '');
      case 'response.output_item.done':
        yield* this.itemDone(event.item, event.output_index ?? this.items.length);
        return;
      case 'response.completed':
      case 'response.incomplete':
        return this.ended(event.response ?? {});
      case 'response.failed':
        throw brokenOff(event.response?.error ?? {});
      case 'error':
        // Servers put the facts beside the type or, as errors of other calls, one level below it.
        throw brokenOff((event as { readonly error?: ErrorFacts | null }).error ?? event);
      default:
        // Beginnings and ends of parts, tools that run at the provider, and whatever the wire may add.
        return;
    }
  }

  *end(): Generator<ModelEvent> {
    yield {
      type: 'end',
      finishReason: this.finishReason(),
      usage: this.usage,
      model: this.answeredBy,
      ...(this.calledTools && { providerState: this.state() }),
    };
  }

  private *said(
    type: 'token' | 'reasoning',
    text: string | null | undefined,
    outputIndex?: number | null,
  ): Generator<ModelEvent> {
    if (!text) return;
    this.meter.text(text);
    if (outputIndex !== undefined && outputIndex !== null) this.spoken.add(outputIndex);
    yield { type, text };
  }

  /** Items stay as they came: they are sent back within the turn. */
  private *itemDone(
    item: Unchecked<OutputItem> | null | undefined,
    outputIndex: number,
  ): Generator<ModelEvent> {
    if (item === undefined || item === null) return;
    this.items.push(item as OutputItem);
    if (item.type === 'reasoning') this.meter.text(item.encrypted_content ?? '');
    if (item.type === 'message' && !this.spoken.has(outputIndex)) yield* this.messageDone(item.content ?? []);
    if (item.type !== 'function_call') return;
    const json = item.arguments ?? '';
    this.meter.arguments(json);
    this.calledTools = true;
    const call = { id: item.call_id ?? '', name: item.name ?? '', ...parseToolArguments(json) };
    yield { type: 'tool_call', call };
  }

  /** A message that came in one piece. */
  private *messageDone(
    parts: Unchecked<OpenAI.Responses.ResponseOutputMessage['content']>,
  ): Generator<ModelEvent> {
    for (const part of parts) {
      if (part.type === 'refusal') this.refused = true;
      yield* this.said('token', 'refusal' in part ? part.refusal : 'text' in part ? part.text : '');
    }
  }

  private ended(response: Response): void {
    this.complete = true;
    this.answeredBy = response.model ?? this.answeredBy;
    const { usage, incomplete_details: details } = response;
    this.usage = countedUsage({
      input: tokenCount(usage?.input_tokens),
      output: tokenCount(usage?.output_tokens),
      cachedInput: tokenCount(usage?.input_tokens_details?.cached_tokens),
      cacheWrite: tokenCount(usage?.input_tokens_details?.cache_write_tokens),
      reasoning: tokenCount(usage?.output_tokens_details?.reasoning_tokens),
    });
    if (response.status === 'incomplete') this.reason = INCOMPLETE[details?.reason ?? ''] ?? 'length';
  }

  private finishReason(): FinishReason {
    if (this.refused) return 'refusal';
    if (this.reason !== 'stop') return this.reason;
    return this.calledTools ? 'tool_calls' : 'stop';
  }

  private state(): ProviderState<OutputItem> {
    return { kind: 'openai', wire: 'responses', model: this.model, items: storableJson(this.items) };
  }
}

function brokenOff({ code, type, message }: ErrorFacts): WireFault {
  const word = code ?? (type === 'error' ? undefined : type) ?? undefined;
  return new WireFault({ kind: 'event', word, sentence: message ?? undefined });
}
