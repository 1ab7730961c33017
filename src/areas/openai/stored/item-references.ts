import { Injectable } from '@nestjs/common';
import { Settings } from '../../../platform/settings/settings.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { ModelToolCall } from '../../models/models.api.js';
import { InvalidParameter, ResponseNotFound } from '../openai.errors.js';
import { CallArguments } from '../requests/call-arguments.js';
import type { SaidMessage } from '../requests/chat-request.js';
import type { ItemReference, ResponsesRequest } from '../requests/responses-request.js';
import { callItems } from '../responses/response-view.js';
import { StoredResponses } from './stored-responses.service.js';

/** The suffix for the n-th call, or for a later attempt at the text. */
const INDEX = /^\d{1,3}$/;
/** Each is looked up. */
const MAX_RESPONSES = 256;

/** The text of a response, and its calls with their arguments as text. */
interface Answer {
  readonly text: string;
  readonly calls: readonly CallItem[];
}
interface CallItem {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Items of stored responses that an input names by their ids, for clients that keep the conversation themselves. */
@Injectable()
export class ItemReferences {
  constructor(
    private readonly responses: StoredResponses,
    private readonly settings: Settings,
  ) {}

  /**
   * The messages with the items that they refer to. Throws `ResponseNotFound`, also for somebody else's item, and
   * `InvalidParameter` when an item is named twice, or when all together are more than a request could bring itself.
   */
  async resolve({ messages, references }: ResponsesRequest, caller: Caller): Promise<SaidMessage[]> {
    if (references.size === 0) return [...messages];
    const items = new NamedItems(this.settings.current.gateway.max_message_body_bytes, (id, path) =>
      this.answerOf(id, path, caller),
    );
    const resolved: SaidMessage[] = [];
    for (const message of messages) {
      const reference = references.get(message);
      resolved.push(reference === undefined ? message : await items.take(reference));
    }
    return resolved;
  }

  private async answerOf(responseId: string, path: string, caller: Caller): Promise<Answer> {
    const { state } = await this.responses.find(responseId, caller, path);
    const { answer, id, echo } = state;
    if (answer === undefined) throw new ResponseNotFound(path);
    const calls = callItems(id, echo, answer).map((item) => ({
      id: String(item['call_id']),
      name: String(item['name']),
      arguments: String(item['arguments']),
    }));
    return { text: answer.content, calls };
  }
}

/** The items that one request names: each once, and together no more than a request may bring. */
class NamedItems {
  private readonly answers = new Map<string, Answer>();
  private readonly taken = new Set<string>();
  private readonly callArguments = new CallArguments();
  private chars = 0;

  constructor(
    private readonly maxChars: number,
    private readonly find: (responseId: string, path: string) => Promise<Answer>,
  ) {}

  async take({ id, path }: ItemReference): Promise<SaidMessage> {
    // `msg_…` is what a response says, `fc_…_<n>` its n-th call.
    const [kind, body = '', index = '', ...more] = id.split('_');
    const isCall = kind === 'fc';
    const isKnown = isCall || kind === 'msg';
    // Each has one id.
    const isIndexed = INDEX.test(index) && String(Number(index)) === index;
    const isWhole = isIndexed || (!isCall && id === `msg_${body}`);
    if (!isKnown || !isWhole || more.length > 0) throw new ResponseNotFound(path);
    if (this.taken.has(id))
      throw new InvalidParameter({ path, message: 'names an item for the second time' });
    this.taken.add(id);
    const { text, calls } = await this.answer(`resp_${body}`, path);
    if (isCall) return { role: 'assistant', text: '', calls: [this.made(calls[Number(index)], path)] };
    this.count(text, path);
    return { role: 'assistant', text, calls: [] };
  }

  private async answer(responseId: string, path: string): Promise<Answer> {
    const known = this.answers.get(responseId);
    if (known !== undefined) return known;
    if (this.answers.size >= MAX_RESPONSES)
      throw new InvalidParameter({ path, message: `is of one more than ${MAX_RESPONSES} responses` });
    const found = await this.find(responseId, path);
    this.answers.set(responseId, found);
    return found;
  }

  private made(call: CallItem | undefined, path: string): ModelToolCall {
    if (call === undefined) throw new ResponseNotFound(path);
    this.count(call.arguments, path);
    return this.callArguments.read(call.id, call.name, call.arguments, path);
  }

  private count(text: string, path: string): void {
    this.chars += text.length;
    if (this.chars <= this.maxChars) return;
    const message = `makes more than ${this.maxChars} characters of items that are named by their ids`;
    throw new InvalidParameter({ path, message });
  }
}
