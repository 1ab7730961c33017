import { InvalidParameter } from '../openai.errors.js';
import { CallArguments } from './call-arguments.js';
import type { SaidMessage } from './chat-request.js';
import { conversationOf } from './conversation.js';

const NO_FILES = () => Promise.resolve([]);
const conversation = (messages: readonly SaidMessage[]) => conversationOf(messages, NO_FILES, 'messages');
const asks: SaidMessage = { role: 'user', parts: [{ text: 'Hello' }] };
const says = (text: string, ...calls: readonly { id: string; name: string; arguments: object }[]) =>
  ({ role: 'assistant', text, calls }) as SaidMessage;
const call = (id: string) => ({ id, name: 'look', arguments: {} });
const gives = (callId: string): SaidMessage => ({ role: 'tool', callId, output: 'seen' });

test('the text and the calls of one answer are joined, and their outputs follow them', async () => {
  const messages = [asks, says('One.'), says('Two.', call('a')), says('', call('b')), gives('b'), gives('a')];
  expect(await conversation(messages)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', text: 'One.\n\nTwo.', toolCalls: [{ id: 'a' }, { id: 'b' }] },
    { role: 'tool', results: [{ callId: 'b' }, { callId: 'a' }] },
  ]);
  await expect(conversation([asks, says('', call('a')), asks])).rejects.toThrow('no output for the call "a"');
  await expect(conversation([asks, says('', call('a')), gives('b')])).rejects.toThrow('was not made');
});

test('thousands of pieces of an answer cost what their text does', async () => {
  const pieces = (count: number, size: number): SaidMessage[] => [
    ...Array.from({ length: 26 }, () => says('x'.repeat(size))),
    ...Array.from({ length: count }, () => says('y')),
    asks,
  ];
  const timed = async (messages: readonly SaidMessage[]): Promise<number> => {
    const startedAt = performance.now();
    await conversation(messages);
    return performance.now() - startedAt;
  };
  const apart = (await timed(pieces(4000, 1))) + (await timed(pieces(0, 1_048_576)));
  // Joined anew for each piece, the long ones would be copied four thousand times.
  expect(await timed(pieces(4000, 1_048_576))).toBeLessThan(30 * apart);
});

test.each([
  ['no object', '[]'],
  ['no JSON', '{'],
  ['too deep', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`],
  ['too many values', `{"a":[${'[],'.repeat(60_000)}[]]}`],
])('arguments that are refused before they are parsed: %s', (_, args) => {
  expect(() => new CallArguments().read('a', 'look', args, 'messages[0]')).toThrow(InvalidParameter);
});

test('the arguments of all calls of a request are limited together', () => {
  const calls = new CallArguments();
  const args = `{"a":[${'1,'.repeat(20_000)}1]}`;
  expect(calls.read('a', 'look', args, 'one').arguments).toEqual({ a: expect.any(Array) as unknown });
  expect(calls.read('b', 'look', '', 'two').arguments).toEqual({});
  calls.read('c', 'look', args, 'three');
  expect(() => calls.read('d', 'look', args, 'four')).toThrow('all calls together');
});
