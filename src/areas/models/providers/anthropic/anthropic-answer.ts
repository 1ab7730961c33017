import type Anthropic from '@anthropic-ai/sdk';
import type { FinishReason, ModelEvent, ModelToolCall } from '../../model-provider.port.js';
import { AnswerMeter } from '../wire/answer-meter.js';
import { tokenCount } from '../wire/token-count.js';
import type { Unchecked } from '../wire/unchecked.js';
import { WireFault } from '../wire/wire-fault.js';
import { AnthropicBlocks } from './anthropic-blocks.js';
import { AnthropicContent } from './anthropic-content.js';
import type { AnthropicParams } from './anthropic-request.js';

const INPUT_KEYS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'] as const;
type InputKey = (typeof INPUT_KEYS)[number];
type Counts = Unchecked<Pick<Anthropic.MessageDeltaUsage, InputKey | 'output_tokens'>>;

interface ErrorEvent {
  readonly type: 'error';
  readonly error: { readonly type: string; readonly message: string };
}
export type AnthropicEvent = Anthropic.RawMessageStreamEvent | ErrorEvent;

const REASONS: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    pause_turn: 'stop',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    refusal: 'refusal',
  } satisfies Record<Anthropic.StopReason, FinishReason>),
);

/** One answer as it grows out of its events. */
export class AnthropicAnswer {
  private readonly blocks = new AnthropicBlocks(new AnswerMeter());
  private readonly inputs: Record<InputKey, number> = {
    input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  private output = 0;
  private reason: FinishReason = 'stop';
  private model: string;
  private calledTools = false;
  private complete = false;

  constructor(private readonly params: AnthropicParams) {
    this.model = params.model;
  }

  /** The end marker arrived. */
  isComplete(): boolean {
    return this.complete;
  }

  /** Returns what the event adds to the neutral stream, often nothing. */
  add(event: Unchecked<AnthropicEvent>): ModelEvent | undefined {
    switch (event.type) {
      case 'content_block_start':
        return token(this.blocks.start(event));
      case 'content_block_delta':
        return token(this.blocks.extend(event));
      case 'content_block_stop':
        return this.called(this.blocks.stop(event));
      case 'message_start':
        this.model = event.message?.model ?? this.model;
        return this.count(event.message?.usage);
      case 'message_delta':
        this.reason = REASONS.get(event.delta?.stop_reason ?? '') ?? this.reason;
        return this.count(event.usage);
      case 'message_stop':
        this.complete = true;
        return undefined;
      case 'error':
        throw brokenOff(event.error);
      default:
        // `ping`, and whatever the wire may add.
        return undefined;
    }
  }

  end(): ModelEvent {
    return {
      type: 'end',
      finishReason: this.finishReason(),
      usage: { input: INPUT_KEYS.reduce((sum, key) => sum + this.inputs[key], 0), output: this.output },
      model: this.model,
      ...(this.calledTools && { providerState: this.content() }),
    };
  }

  private content(): AnthropicContent {
    // An empty text is the one block that the wire sends but does not take back.
    const blocks = this.blocks.params.filter((block) => block.type !== 'text' || block.text !== '');
    return new AnthropicContent(this.params.model, blocks, this.params.tools ?? []);
  }

  private called(call: ModelToolCall | undefined): ModelEvent | undefined {
    if (call === undefined) return undefined;
    this.calledTools = true;
    return { type: 'tool_call', call };
  }

  /** Counts are cumulative: the latest that is given stands. */
  private count(usage: Counts | null | undefined): undefined {
    for (const key of INPUT_KEYS) this.inputs[key] = tokenCount(usage?.[key]) || this.inputs[key];
    this.output = tokenCount(usage?.output_tokens) || this.output;
  }

  private finishReason(): FinishReason {
    if (this.reason === 'length' || this.reason === 'refusal') return this.reason;
    return this.calledTools ? 'tool_calls' : 'stop';
  }
}

function token(text: string): ModelEvent | undefined {
  return text === '' ? undefined : { type: 'token', text };
}

function brokenOff(error: Unchecked<ErrorEvent>['error']): WireFault {
  return new WireFault({
    kind: 'event',
    word: error?.type ?? undefined,
    sentence: error?.message ?? undefined,
  });
}
