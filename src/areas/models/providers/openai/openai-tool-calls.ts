import { randomUUID } from 'node:crypto';
import type OpenAI from 'openai';
import type { ModelToolCall } from '../../model-provider.port.js';
import type { AnswerMeter } from '../wire/answer-meter.js';
import { parseToolArguments } from '../wire/tool-arguments.js';
import type { Unchecked } from '../wire/unchecked.js';

type CallDelta = Unchecked<OpenAI.Chat.ChatCompletionChunk.Choice.Delta.ToolCall>;

interface PartialCall {
  id: string;
  name: string;
  pieces: string[];
}

/** Puts tool calls together from deltas, which may come interleaved. */
export class OpenAiToolCalls {
  private readonly calls: PartialCall[] = [];
  private readonly current = new Map<number, PartialCall>();

  constructor(private readonly meter: AnswerMeter) {}

  add(delta: CallDelta): void {
    const call = this.callOf(delta.index ?? 0, delta.id ?? '');
    if (call.id === '') call.id = delta.id ?? '';
    if (call.name === '') call.name = delta.function?.name ?? '';
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

  /** Some compatible servers number every call 0 and tell them apart by id only. */
  private callOf(index: number, id: string): PartialCall {
    const known = this.current.get(index);
    if (known !== undefined && (id === '' || known.id === '' || known.id === id)) return known;
    this.meter.call();
    const call: PartialCall = { id, name: '', pieces: [] };
    this.calls.push(call);
    this.current.set(index, call);
    return call;
  }
}
