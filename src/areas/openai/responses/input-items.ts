import type { Message } from '../../turns/turns.api.js';
import { callItem, messageItem, messageItemId, type OutputItem, textPart } from './response-view.js';

/** A message of the conversation that items are made from. */
export interface SaidBefore extends Pick<Message, 'id' | 'role' | 'content' | 'attachments' | 'toolCalls'> {
  /** The response that it belongs to; undefined when it belongs to none. */
  readonly responseId: string | undefined;
  readonly isWhole: boolean;
  /** The names of the client's tools; undefined when all of its calls are the client's. */
  readonly clientTools: ReadonlySet<string> | undefined;
  /** What the client's tools returned, by the ids of the calls. */
  readonly outputs: ReadonlyMap<string, string>;
}

/** The items of one message, in their order; none when it said nothing that clients are shown. */
export function inputItems(said: SaidBefore): OutputItem[] {
  return said.role === 'user' ? userItems(said) : answerItems(said);
}

function userItems({ id, content, attachments }: SaidBefore): OutputItem[] {
  const text = content === '' ? [] : [{ type: 'input_text', text: content }];
  // Their bytes are not part of the list, like at OpenAI unless they are requested.
  const attached = attachments.map(({ type, name }) =>
    type === 'image'
      ? { type: 'input_image', detail: 'auto' }
      : { type: 'input_file', filename: name ?? type },
  );
  const parts = [...text, ...attached];
  return parts.length === 0
    ? []
    : [{ id, type: 'message', status: 'completed', role: 'user', content: parts }];
}

function answerItems({ id, responseId, content, isWhole, ...said }: SaidBefore): OutputItem[] {
  const textId = responseId === undefined ? id : messageItemId(responseId);
  const text =
    content === '' ? [] : [messageItem(textId, [textPart(content)], isWhole ? 'completed' : 'incomplete')];
  const { clientTools, outputs } = said;
  const calls = said.toolCalls.filter(({ name }) => clientTools?.has(name) ?? true);
  const body = textId.slice('msg_'.length);
  const made = calls.map((call, index) => callItem(body, index, call));
  const returned = calls.flatMap(({ id: callId }, index) => {
    const output = outputs.get(callId);
    if (output === undefined) return [];
    return [
      {
        ...{ id: `fco_${body}_${index}`, type: 'function_call_output' },
        status: 'completed',
        call_id: callId,
        output,
      },
    ];
  });
  return [...text, ...made, ...returned];
}
