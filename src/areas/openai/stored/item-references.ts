import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/tokens/caller.js';
import { InvalidParameter, ResponseNotFound } from '../openai.errors.js';
import type { SaidMessage } from '../requests/chat-request.js';
import type { ItemReference, ResponsesRequest } from '../requests/responses-request.js';
import { callItems } from '../responses/response-view.js';
import { type StoredResponse, StoredResponses } from './stored-responses.service.js';

/** Of the n-th call. */
const INDEX = /^\d{1,3}$/;
/** Each is looked up. */
const MAX_RESPONSES = 256;

/** Items of stored responses that an input names by their ids, as clients do that keep a conversation themselves. */
@Injectable()
export class ItemReferences {
  constructor(private readonly responses: StoredResponses) {}

  /** The messages, with what they refer to. Throws `ResponseNotFound`, also for what is somebody else's. */
  async resolve({ messages, references }: ResponsesRequest, caller: Caller): Promise<SaidMessage[]> {
    const known = new Map<string, StoredResponse>();
    const resolved: SaidMessage[] = [];
    for (const message of messages) {
      const reference = references.get(message);
      resolved.push(reference === undefined ? message : await this.item(reference, caller, known));
    }
    return resolved;
  }

  private async item(
    { id, path }: ItemReference,
    caller: Caller,
    known: Map<string, StoredResponse>,
  ): Promise<SaidMessage> {
    // `msg_…` is what a response says, `fc_…_<n>` its n-th call.
    const [kind, body, index = '', ...more] = id.split('_');
    const isCall = kind === 'fc' && INDEX.test(index);
    if ((kind !== 'msg' && !isCall) || more.length > 0) throw new ResponseNotFound(path);
    const responseId = `resp_${body ?? ''}`;
    if (known.size >= MAX_RESPONSES)
      throw new InvalidParameter({ path, message: `is of one more than ${MAX_RESPONSES} responses` });
    const found = known.get(responseId) ?? (await this.responses.find(responseId, caller, path));
    known.set(responseId, found);
    const { answer, id: stateId, echo } = found.state;
    if (answer === undefined) throw new ResponseNotFound(path);
    if (!isCall) return { role: 'assistant', text: answer.content, calls: [] };
    const call = callItems(stateId, echo, answer)[Number(index)];
    const made = answer.toolCalls.find((one) => one.id === call?.['call_id']);
    if (made === undefined) throw new ResponseNotFound(path);
    return {
      role: 'assistant',
      text: '',
      calls: [{ id: made.id, name: made.name, arguments: made.arguments }],
    };
  }
}
