import type OpenAI from 'openai';
import type { FinishReason, ModelEvent, ModelToolCall, ModelUsage } from '../../model-provider.port.js';
import { AnswerMeter } from '../wire/answer-meter.js';
import { tokenCount } from '../wire/token-count.js';
import type { Unchecked } from '../wire/unchecked.js';
import { WireFault } from '../wire/wire-fault.js';
import { OpenAiToolCalls } from './openai-tool-calls.js';

type Chunk = OpenAI.Chat.ChatCompletionChunk;
type Choice = Unchecked<Chunk['choices'][number]>;
type WireReason = NonNullable<Chunk['choices'][number]['finish_reason']>;
export type OpenAiChunk = Chunk & { readonly error?: string | OpenAI.ErrorObject };

const OWN_REASONS = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
} as const satisfies Record<WireReason, FinishReason>;
/** What compatible servers say for an answer that met a limit. */
const COMPATIBLE_REASONS = { model_length: 'length', max_tokens: 'length' } as const;

const REASONS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ...Object.entries(OWN_REASONS),
  ...Object.entries(COMPATIBLE_REASONS),
]);

/** One answer as it grows out of its chunks. */
export class OpenAiAnswer {
  private readonly meter = new AnswerMeter();
  private readonly calls = new OpenAiToolCalls(this.meter);
  private usage: ModelUsage = { input: 0, output: 0 };
  private reason: FinishReason | undefined;
  private refused = false;

  constructor(private model: string) {}

  /** Its end was marked: a connection that breaks now loses nothing but perhaps the usage. */
  isComplete(): boolean {
    return this.reason !== undefined;
  }

  /** Returns the text that the chunk adds, often none. */
  add(chunk: Unchecked<OpenAiChunk>): string {
    if (chunk.error !== undefined && chunk.error !== null) throw brokenOff(chunk.error);
    if (chunk.model) this.model = chunk.model;
    if (chunk.usage) {
      this.usage = {
        input: tokenCount(chunk.usage.prompt_tokens),
        output: tokenCount(chunk.usage.completion_tokens),
      };
    }
    const choice = chunk.choices?.[0];
    return choice ? this.addChoice(choice) : '';
  }

  /** `[DONE]`: the end also for servers that give no reason for it. */
  done(): void {
    this.reason ??= 'stop';
  }

  toolCalls(): ModelToolCall[] {
    return this.calls.complete();
  }

  end(calledTools: boolean): ModelEvent {
    return {
      type: 'end',
      finishReason: this.finishReason(calledTools),
      usage: this.usage,
      model: this.model,
    };
  }

  private addChoice({ delta, finish_reason }: Choice): string {
    for (const call of delta?.tool_calls ?? []) this.calls.add(call);
    if (finish_reason) this.reason = REASONS.get(finish_reason) ?? 'stop';
    if (delta?.refusal) this.refused = true;
    const text = textOf(delta?.content) + textOf(delta?.refusal);
    this.meter.text(text);
    return text;
  }

  private finishReason(calledTools: boolean): FinishReason {
    if (this.refused) return 'refusal';
    if (this.reason === 'length' || this.reason === 'content_filter') return this.reason;
    // Compatible servers end with `stop` after calls of tools, or the reverse.
    return calledTools ? 'tool_calls' : 'stop';
  }
}

function brokenOff(error: NonNullable<Unchecked<OpenAiChunk>['error']>): WireFault {
  if (typeof error === 'string') return new WireFault({ kind: 'event', word: undefined, sentence: error });
  const word = error.code ?? error.type ?? undefined;
  return new WireFault({ kind: 'event', word, sentence: error.message ?? undefined });
}

/** Some compatible servers send parts where the wire has text; those are not for reading aloud. */
function textOf(content: string | null | undefined): string {
  return typeof content === 'string' ? content : '';
}
