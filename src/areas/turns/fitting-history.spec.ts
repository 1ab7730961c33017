import { fittingHistory } from './fitting-history.js';
import type { Message, MessageRole } from './message.js';

/** 400 characters are 100 estimated tokens, and 8 for the message around them. */
const TEXT = 'x'.repeat(400);

function said(role: MessageRole, id: string, content = TEXT): Message {
  const createdAt = new Date(0);
  return {
    id,
    role,
    content,
    attachments: [],
    toolCalls: [],
    tokensUsed: 0,
    model: null,
    incomplete: null,
    finishReason: null,
    usageEstimated: false,
    createdAt,
  };
}

const history = ['1', '2', '3'].flatMap((n) => [said('user', `u${n}`), said('assistant', `a${n}`)]);
const question = { content: TEXT, attachments: [] };
const idsAt = (room: number, messages = history) =>
  fittingHistory(messages, question, room).fitting.map(({ id }) => id);

test('a history that fits is given as it is', () => {
  expect(fittingHistory(history, question, 7 * 108)).toEqual({ fitting: history, leftOut: 0 });
});

test('the oldest whole exchanges go first', () => {
  expect(idsAt(7 * 108 - 1)).toEqual(['u2', 'a2', 'u3', 'a3']);
  expect(idsAt(5 * 108)).toEqual(['u2', 'a2', 'u3', 'a3']);
  expect(idsAt(5 * 108 - 1)).toEqual(['u3', 'a3']);
  expect(fittingHistory(history, question, 5 * 108 - 1).leftOut).toBe(4);
});

test('the last exchange stays, however little room there is', () => {
  expect(idsAt(0)).toEqual(['u3', 'a3']);
  expect(idsAt(-1000)).toEqual(['u3', 'a3']);
});

test('messages without an answer are exchanges of their own', () => {
  const unanswered = [said('user', 'u1'), said('user', 'u2'), said('assistant', 'a2'), said('user', 'u3')];
  expect(idsAt(4 * 108, unanswered)).toEqual(['u2', 'a2', 'u3']);
  expect(idsAt(2 * 108, unanswered)).toEqual(['u3']);
});

test('an exchange too large to fit takes everything before it along, so that nothing is missing in between', () => {
  const gap = [
    said('user', 'u1', 'Hi'),
    said('assistant', 'a1', 'Hi'),
    said('user', 'u2', 'y'.repeat(4000)),
    said('assistant', 'a2'),
  ];
  expect(idsAt(500, [...gap, said('user', 'u3'), said('assistant', 'a3')])).toEqual(['u3', 'a3']);
});

test('attachments count: images by a flat rate, files by their size', () => {
  const image = { id: 'att', type: 'image' as const, name: null, mimeType: 'image/png', sizeBytes: 1 };
  const seen = { ...said('user', 'u1'), attachments: [image] };
  const messages = [seen, said('assistant', 'a1'), said('user', 'u2'), said('assistant', 'a2')];
  expect(idsAt(5 * 108 + 1600, messages)).toHaveLength(4);
  expect(idsAt(5 * 108 + 1599, messages)).toHaveLength(2);
});
