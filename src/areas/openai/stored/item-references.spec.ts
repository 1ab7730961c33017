import type { Settings } from '../../../platform/settings/settings.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { SaidMessage } from '../requests/chat-request.js';
import type { ItemReference, ResponsesRequest } from '../requests/responses-request.js';
import { ItemReferences } from './item-references.js';
import type { StoredResponse, StoredResponses } from './stored-responses.service.js';

/** How often arguments were written as text. */
let written = 0;
beforeEach(() => {
  written = 0;
});

const call = (id: string) => ({
  id,
  name: 'weather',
  arguments: {
    toJSON: () => {
      written += 1;
      return { city: 'Oslo' };
    },
  },
});

/** Every response says "Hello" and has two calls. */
function itemsWithin(maxChars: number, ...ids: string[]): Promise<SaidMessage[]> {
  const found = (id: string) => ({
    state: {
      id,
      echo: { tools: [{ name: 'weather' }] },
      answer: { content: 'Hello', toolCalls: [call('c0'), call('c1')] },
    },
  });
  const responses = { find: (id: string) => Promise.resolve(found(id) as unknown as StoredResponse) };
  const settings = { current: { gateway: { max_message_body_bytes: maxChars } } };
  const messages = ids.map((): SaidMessage => ({ role: 'assistant', text: '', calls: [] }));
  const references = new Map<SaidMessage, ItemReference>(
    messages.map((message, index) => [message, { id: ids[index] ?? '', path: `input[${index}]` }]),
  );
  return new ItemReferences(responses as unknown as StoredResponses, settings as unknown as Settings).resolve(
    { messages, references } as unknown as ResponsesRequest,
    {} as Caller,
  );
}

test('items are found by their ids; a response stores arguments once, however many of its calls are named', async () => {
  expect(await itemsWithin(100, 'msg_1', 'fc_1_0', 'fc_1_1')).toEqual([
    { role: 'assistant', text: 'Hello', calls: [] },
    { role: 'assistant', text: '', calls: [{ id: 'c0', name: 'weather', arguments: { city: 'Oslo' } }] },
    { role: 'assistant', text: '', calls: [{ id: 'c1', name: 'weather', arguments: { city: 'Oslo' } }] },
  ]);
  expect(written).toBe(2);
});

test.each([
  ['what is said', ['msg_1', 'fc_1_0', 'msg_1'], 'input[2]: names an item for the second time'],
  ['a call', ['fc_1_0', 'fc_1_0'], 'input[1]: names an item for the second time'],
])('an item that is named twice is refused by its position: %s', async (_what, ids, message) => {
  await expect(itemsWithin(1000, ...ids)).rejects.toThrow(message);
});

test('an item has one id', async () => {
  await expect(itemsWithin(1000, 'fc_1_0', 'fc_1_00')).rejects.toThrow('no such item');
  await expect(itemsWithin(1000, 'msg_1', 'msg_1_')).rejects.toThrow('no such item');
});

test('all items together may be no larger than a request', async () => {
  const inputs = ['msg_1', 'msg_2', 'fc_3_0'];
  expect(await itemsWithin(25, ...inputs)).toHaveLength(3);
  await expect(itemsWithin(24, ...inputs)).rejects.toThrow('input[2]: makes more than 24 characters');
});
