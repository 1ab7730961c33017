import type Anthropic from '@anthropic-ai/sdk';
import type { ModelToolCall } from '../../model-provider.port.js';
import type { AnswerMeter } from '../wire/answer-meter.js';
import { boundedArguments, isRecord, parseToolArguments } from '../wire/tool-arguments.js';
import type { Unchecked } from '../wire/unchecked.js';

type StartBlock = Unchecked<Anthropic.RawContentBlockStartEvent['content_block']>;
type Delta = Unchecked<Anthropic.RawContentBlockDelta>;

interface OpenCall {
  readonly param: Anthropic.ToolUseBlockParam;
  readonly pieces: string[];
}

/** The content blocks of one answer, in their order, put together from deltas. */
export class AnthropicBlocks {
  readonly params: Anthropic.ContentBlockParam[] = [];
  private readonly open = new Map<number, Anthropic.ContentBlockParam>();
  private readonly calls = new Map<number, OpenCall>();

  constructor(private readonly meter: AnswerMeter) {}

  /** Returns the text that the block begins with, often none. */
  start({ index, content_block }: Unchecked<Anthropic.RawContentBlockStartEvent>): string {
    const param = paramOf(content_block ?? {});
    if (param === undefined) return '';
    this.meter.call();
    this.params.push(param);
    this.open.set(index ?? 0, param);
    if (param.type === 'tool_use') this.openCall(index ?? 0, param);
    if (param.type === 'redacted_thinking') this.meter.text(param.data);
    if (param.type !== 'text') return '';
    this.meter.text(param.text);
    return param.text;
  }

  /** Returns the text that the delta adds, often none. */
  extend({ index, delta }: Unchecked<Anthropic.RawContentBlockDeltaEvent>): string {
    const param = this.open.get(index ?? 0);
    if (delta?.type === 'text_delta' && param?.type === 'text') {
      const text = delta.text ?? '';
      this.meter.text(text);
      param.text += text;
      return text;
    }
    if (delta?.type === 'input_json_delta') {
      const piece = delta.partial_json ?? '';
      this.meter.arguments(piece);
      this.calls.get(index ?? 0)?.pieces.push(piece);
    }
    if (param?.type === 'thinking') this.think(param, delta);
    return '';
  }

  /** Returns the tool call that the end of the block completes, if any. */
  stop({ index }: Unchecked<Anthropic.RawContentBlockStopEvent>): ModelToolCall | undefined {
    const call = this.calls.get(index ?? 0);
    this.open.delete(index ?? 0);
    this.calls.delete(index ?? 0);
    return call === undefined ? undefined : completed(call);
  }

  private openCall(index: number, param: Anthropic.ToolUseBlockParam): void {
    this.meter.arguments(JSON.stringify(param.input));
    this.calls.set(index, { param, pieces: [] });
  }

  private think(param: Anthropic.ThinkingBlockParam, delta: Delta | null | undefined): void {
    const thinking = delta?.type === 'thinking_delta' ? (delta.thinking ?? '') : '';
    const signature = delta?.type === 'signature_delta' ? (delta.signature ?? '') : '';
    this.meter.text(thinking + signature);
    param.thinking += thinking;
    param.signature += signature;
  }
}

/** Blocks of tools that run at the provider are never asked for, so they are not kept. */
function paramOf(block: StartBlock): Anthropic.ContentBlockParam | undefined {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text ?? '' };
    case 'thinking':
      return { type: 'thinking', thinking: block.thinking ?? '', signature: block.signature ?? '' };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: block.data ?? '' };
    case 'tool_use':
      return { type: 'tool_use', id: block.id ?? '', name: block.name ?? '', input: block.input ?? {} };
    default:
      return undefined;
  }
}

function completed({ param, pieces }: OpenCall): ModelToolCall {
  const text = pieces.join('');
  const whole = isRecord(param.input) ? param.input : {};
  // Some compatible servers put all arguments into the beginning of the block.
  const parsed = text === '' ? boundedArguments(whole) : parseToolArguments(text);
  param.input = parsed.arguments;
  return { id: param.id, name: param.name, ...parsed };
}
