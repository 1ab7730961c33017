import type { ModelMessage } from '../../models/models.api.js';
import { leftOutMedia, withinMedia } from './media-window.js';

const media = (key: string, bytes: number) => ({ key, bytes });
const picture = (bytes: number) => ({
  type: 'image' as const,
  mimeType: 'image/png',
  data: Buffer.alloc(bytes).toString('base64'),
});
const shown = (...bytes: number[]): ModelMessage => ({
  role: 'user',
  parts: [...bytes.map(picture), { type: 'text', text: 'Look.' }],
});
const drawn = (callId: string, bytes: number): ModelMessage => ({
  role: 'tool',
  results: [{ callId, content: 'drawn', parts: [picture(bytes)], isError: false }],
});
/** The bytes of each message's pictures; a note is 0. */
const sizes = (messages: readonly ModelMessage[]) =>
  messages.map((message) =>
    (message.role === 'user'
      ? message.parts.slice(0, -1)
      : message.role === 'tool'
        ? (message.results[0]?.parts ?? [])
        : []
    ).map((part) => (part.type === 'text' ? 0 : Buffer.byteLength(part.data, 'base64'))),
  );

test('past the limit the oldest are left out, in a block, until 0.6 is left', () => {
  const messages = ['a', 'b', 'c', 'd', 'e'].map((key) => [media(key, 30)]);
  expect([...leftOutMedia(messages.slice(0, 3), 100)]).toEqual([]);
  expect([...leftOutMedia(messages.slice(0, 4), 100)]).toEqual(['a', 'b']);
  expect([...leftOutMedia(messages, 100)]).toEqual(['a', 'b']);
});

test('those of the last message are always sent', () => {
  expect([...leftOutMedia([[media('a', 10)], [media('b', 90), media('c', 90)]], 100)]).toEqual(['a']);
});

test('a note stands where a picture was, for users and for tools', () => {
  const messages = [shown(30, 30), drawn('call_1', 30), shown(30)];
  const within = withinMedia(messages, 100);
  expect(sizes(within)).toEqual([[0, 0], [30], [30]]);
  expect(JSON.stringify(within)).toContain('[attachment picture (image/png) is left out');
});

test('media that are left out stay left out, however the messages arrive', () => {
  const all = [shown(30), drawn('a', 30), shown(40), drawn('b', 30), shown(20), shown(60), drawn('c', 10)];
  for (let count = 1; count < all.length; count += 1) {
    const before = sizes(withinMedia(all.slice(0, count), 100));
    const after = sizes(withinMedia(all.slice(0, count + 1), 100)).slice(0, count);
    const again = sizes(withinMedia(withinMedia(all.slice(0, count), 100), 100));
    expect(again).toEqual(before);
    // A block goes, or nothing; nothing comes back.
    expect(after.flat().every((bytes, index) => bytes === 0 || bytes === before.flat()[index])).toBe(true);
  }
});

test('messages without pictures are the same object', () => {
  const messages: ModelMessage[] = [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];
  expect(withinMedia(messages, 1)).toBe(messages);
});
