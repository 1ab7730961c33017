import type Anthropic from '@anthropic-ai/sdk';
import type { FinishReason, ModelEvent, ModelToolCall, ModelUsage } from '../../model-provider.port.js';
import { AnswerMeter, countedUsage, tokenCount } from '../protocol/answer-meter.js';
import type { Unchecked } from '../protocol/server-events.js';
import { boundedArguments, isRecord, parseToolArguments } from '../protocol/tool-arguments.js';
import { WireFault } from '../protocol/wire-fault.js';

type Counts = Unchecked<Anthropic.MessageDeltaUsage>;
type StartBlock = Unchecked<Anthropic.RawContentBlockStartEvent['content_block']>;
type Delta = Unchecked<Anthropic.RawContentBlockDelta> | null | undefined;
export type BlockParam = Anthropic.ContentBlockParam;

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

/** One answer, built up from its events. */
export class AnthropicAnswer {
  private readonly blocks: AnthropicBlocks;
  private readonly counts = new Map<string, number>();
  private stopReason = '';
  private complete = false;

  constructor(
    public model: string,
    meter: AnswerMeter,
  ) {
    this.blocks = new AnthropicBlocks(meter);
  }

  /** The end marker arrived. */
  isComplete(): boolean {
    return this.complete;
  }

  /** The provider paused and wants to be asked to continue. */
  isPaused(): boolean {
    return this.stopReason === 'pause_turn';
  }

  /** The blocks as they are sent back. The wire sends empty texts but does not accept them. */
  content(): BlockParam[] {
    return this.blocks.params.filter((block) => block.type !== 'text' || block.text !== '');
  }

  /** Returns what the event adds to the neutral stream, often nothing. */
  add(event: Unchecked<AnthropicEvent>): ModelEvent | undefined {
    switch (event.type) {
      case 'content_block_start':
        return this.blocks.start(event);
      case 'content_block_delta':
        return this.blocks.extend(event);
      case 'content_block_stop':
        return this.blocks.stop(event);
      case 'message_start':
        this.model = event.message?.model ?? this.model;
        return this.count(event.message?.usage);
      case 'message_delta':
        this.stopReason = event.delta?.stop_reason ?? this.stopReason;
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

  usage(): ModelUsage {
    const count = (key: string) => this.counts.get(key) ?? 0;
    const cachedInput = count('cache_read_input_tokens');
    const cacheWrite = count('cache_creation_input_tokens');
    return countedUsage({
      input: count('input_tokens') + cachedInput + cacheWrite,
      output: count('output_tokens'),
      cachedInput,
      cacheWrite,
      reasoning: count('thinking_tokens'),
    });
  }

  finishReason(): FinishReason {
    const reason = REASONS.get(this.stopReason) ?? 'stop';
    if (reason === 'length' || reason === 'refusal') return reason;
    return this.hasCalls() ? 'tool_calls' : 'stop';
  }

  /** A tool call has begun to arrive. */
  hasBegunCall(): boolean {
    return this.blocks.hasBegunCall;
  }

  hasCalls(): boolean {
    return this.blocks.hasCalls;
  }

  /** Counts are cumulative: the latest one applies. */
  private count(usage: Counts | null | undefined): undefined {
    const { output_tokens_details: details, ...rest } = usage ?? {};
    for (const [key, value] of Object.entries({ ...rest, ...details })) {
      const tokens = typeof value === 'number' ? tokenCount(value) : 0;
      if (tokens > 0) this.counts.set(key, tokens);
    }
  }
}

interface OpenCall {
  readonly param: Anthropic.ToolUseBlockParam | Anthropic.ServerToolUseBlockParam;
  readonly pieces: string[];
}

/** The content blocks of one answer, in order, assembled from deltas. */
class AnthropicBlocks {
  readonly params: BlockParam[] = [];
  hasCalls = false;
  hasBegunCall = false;
  private readonly open = new Map<number, BlockParam>();
  private readonly calls = new Map<number, OpenCall>();

  constructor(private readonly meter: AnswerMeter) {}

  start({ index, content_block }: Unchecked<Anthropic.RawContentBlockStartEvent>): ModelEvent | undefined {
    const param = paramOf(content_block ?? {});
    if (param === undefined) return undefined;
    this.meter.call();
    this.params.push(param);
    this.open.set(index ?? 0, param);
    switch (param.type) {
      case 'text':
        return this.said('token', param.text);
      case 'thinking':
        this.meter.text(param.signature);
        return this.said('reasoning', param.thinking);
      case 'tool_use':
      case 'server_tool_use':
        this.meter.arguments(JSON.stringify(param.input));
        this.calls.set(index ?? 0, { param, pieces: [] });
        this.hasBegunCall = true;
        return undefined;
      default:
        this.meter.text(JSON.stringify(param));
        return undefined;
    }
  }

  extend({ index, delta }: Unchecked<Anthropic.RawContentBlockDeltaEvent>): ModelEvent | undefined {
    const param = this.open.get(index ?? 0);
    if (param?.type === 'text') return this.speak(param, delta);
    if (delta?.type === 'input_json_delta') {
      const piece = delta.partial_json ?? '';
      this.meter.arguments(piece);
      this.calls.get(index ?? 0)?.pieces.push(piece);
    }
    return param?.type === 'thinking' ? this.think(param, delta) : undefined;
  }

  /** The end of a block completes its tool call, if it is one. */
  stop({ index }: Unchecked<Anthropic.RawContentBlockStopEvent>): ModelEvent | undefined {
    const call = this.calls.get(index ?? 0);
    this.open.delete(index ?? 0);
    this.calls.delete(index ?? 0);
    if (call === undefined) return undefined;
    const completed = completedCall(call);
    // Tools that run at the provider are not ours to run.
    if (call.param.type === 'server_tool_use') return undefined;
    this.hasCalls = true;
    return { type: 'tool_call', call: completed };
  }

  private speak(param: Anthropic.TextBlockParam, delta: Delta): ModelEvent | undefined {
    const text = delta?.type === 'text_delta' ? (delta.text ?? '') : '';
    param.text += text;
    return this.said('token', text);
  }

  private think(param: Anthropic.ThinkingBlockParam, delta: Delta): ModelEvent | undefined {
    const thinking = delta?.type === 'thinking_delta' ? (delta.thinking ?? '') : '';
    const signature = delta?.type === 'signature_delta' ? (delta.signature ?? '') : '';
    this.meter.text(signature);
    param.thinking += thinking;
    param.signature += signature;
    return this.said('reasoning', thinking);
  }

  private said(type: 'token' | 'reasoning', text: string): ModelEvent | undefined {
    this.meter.text(text);
    return text === '' ? undefined : { type, text };
  }
}

/** A block as it is sent back. Unknown blocks belong to tools that run at the provider: they stay as they came. */
function paramOf(block: StartBlock): BlockParam | undefined {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text ?? '' };
    case 'thinking':
      return { type: 'thinking', thinking: block.thinking ?? '', signature: block.signature ?? '' };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: block.data ?? '' };
    case 'tool_use':
      return { type: 'tool_use', id: block.id ?? '', name: block.name ?? '', input: block.input ?? {} };
    case undefined:
    case null:
      return undefined;
    default:
      return { ...block } as BlockParam;
  }
}

function completedCall({ param, pieces }: OpenCall): ModelToolCall {
  const text = pieces.join('');
  const whole = isRecord(param.input) ? param.input : {};
  // Some compatible servers put all arguments into the start of the block.
  const parsed = text === '' ? boundedArguments(whole) : parseToolArguments(text);
  param.input = parsed.arguments;
  return { id: param.id, name: param.name, ...parsed };
}

function brokenOff(error: Unchecked<ErrorEvent>['error']): WireFault {
  return new WireFault({
    kind: 'event',
    word: error?.type ?? undefined,
    sentence: error?.message ?? undefined,
  });
}
