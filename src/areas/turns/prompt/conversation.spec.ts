import type { ToolCallRecord } from '../../tools/tools.api.js';
import type { AttachmentInfo, PlacedMessage } from '../message.js';
import { RESULT_CUT } from '../rounds/own-rounds.js';
import type { TurnStep } from '../rounds/turn-steps.store.js';
import { contextCut, surelyFits } from './context-cut.js';
import { exchangesOf, modelMessages, NO_RESULT, userMessage, withNote } from './conversation.js';

const NOTHING = { messages: 0, results: 0 };

function placed(seq: number, more: Partial<PlacedMessage> = {}): PlacedMessage {
  return {
    id: `m${seq}`,
    seq,
    role: seq % 2 === 1 ? 'user' : 'assistant',
    content: `text ${seq}`,
    attachments: [],
    toolCalls: [],
    tokensUsed: 0,
    model: null,
    incomplete: null,
    finishReason: null,
    usageEstimated: false,
    createdAt: new Date(0),
    ...more,
  };
}

const asked = (text: string, ...ids: string[]): TurnStep => ({
  kind: 'asked',
  text,
  calls: ids.map((id) => ({ id, name: 'echo', arguments: { text: id } })),
  model: 'm',
});
const answered = (callId: string, content = `result ${callId}`): TurnStep => ({
  kind: 'answered',
  result: { callId, content, isError: false },
});

function sent(
  history: readonly PlacedMessage[],
  steps: Record<string, readonly TurnStep[]> = {},
  cut = NOTHING,
) {
  const known = new Map(Object.entries(steps));
  return modelMessages(exchangesOf(history, known, cut), { steps: known, bytes: new Map(), cut });
}

test('tool calls and their results stand where they happened, before the answer', () => {
  const content = 'Let me see.\n\nAnd again.\n\nDone.';
  const steps = [
    asked('Let me see.', '1', '2'),
    answered('2'),
    answered('1'),
    asked('And again.', '3'),
    answered('3'),
  ];
  expect(sent([placed(1), placed(2, { content })], { m2: steps }).slice(1)).toEqual([
    { role: 'assistant', text: 'Let me see.', toolCalls: [call('1'), call('2')] },
    { role: 'tool', results: [result('1'), result('2')] },
    { role: 'assistant', text: 'And again.', toolCalls: [call('3')] },
    { role: 'tool', results: [result('3')] },
    { role: 'assistant', text: 'Done.', toolCalls: [] },
  ]);
});

test('rounds without text leave no blank line in what follows', () => {
  const steps = [asked('', '1'), answered('1'), asked('', '2'), answered('2')];
  expect(sent([placed(1), placed(2, { content: 'Done.' })], { m2: steps }).at(-1)).toEqual({
    role: 'assistant',
    text: 'Done.',
    toolCalls: [],
  });
});

test('a call without a result gets one, and a fragment is marked as one', () => {
  const cancelled = placed(2, { content: 'Let me see.', incomplete: 'cancelled' });
  expect(sent([placed(1), cancelled], { m2: [asked('Let me see.', '1')] }).slice(1)).toEqual([
    { role: 'assistant', text: 'Let me see.', toolCalls: [call('1')] },
    { role: 'tool', results: [{ callId: '1', content: NO_RESULT, isError: true }] },
    { role: 'assistant', text: '[This answer was cut off: cancelled.]', toolCalls: [] },
  ]);
});

test('an answer without text is left out, and so is everything before the first user message', () => {
  expect(sent([placed(2), placed(3), placed(4, { content: ' ' }), placed(5)])).toEqual([user(3), user(5)]);
});

test('results up to the cut become marks, and count as marks', () => {
  const history = [placed(1), placed(2), placed(3), placed(4)];
  const long = 'x'.repeat(4000);
  const steps = { m2: [asked('', '1'), answered('1', long)], m4: [asked('', '2'), answered('2', long)] };
  const known = new Map(Object.entries(steps));
  const [older, newer] = exchangesOf(history, known, { messages: 0, results: 2 });
  expect(older).toMatchObject({ through: 2, resultTokens: 0 });
  expect(newer!.tokens - newer!.resultTokens).toBe(older!.tokens);
  const results = sent(history, steps, { messages: 0, results: 2 }).flatMap((message) =>
    message.role === 'tool' ? message.results.map(({ content }) => content) : [],
  );
  expect(results).toEqual([RESULT_CUT, long]);
});

test('attachments count: images at a flat rate, files by their size', () => {
  const attached = (more: Partial<AttachmentInfo>) =>
    exchangesOf(
      [
        placed(1, {
          attachments: [
            { id: 'att', type: 'image', name: null, mimeType: 'image/png', sizeBytes: 1, ...more },
          ],
        }),
      ],
      new Map(),
      NOTHING,
    )[0]!.tokens;
  const [plain] = exchangesOf([placed(1)], new Map(), NOTHING);
  expect(attached({}) - plain!.tokens).toBe(1600);
  expect(attached({ type: 'file', sizeBytes: 401 }) - plain!.tokens).toBe(101);
});

test('messages without an answer are exchanges of their own', () => {
  const history = [
    placed(1),
    placed(2, { role: 'user' }),
    placed(3, { role: 'assistant' }),
    placed(4, { role: 'user' }),
  ];
  expect(exchangesOf(history, new Map(), NOTHING).map(({ through }) => through)).toEqual([1, 3, 4]);
});

test.each<[string, boolean, Partial<PlacedMessage>, number]>([
  ['short texts', true, {}, 1000],
  ['a text that might take too many bytes', false, { content: 'x'.repeat(1400) }, 1000],
  ['attachments', false, { attachments: [{ id: 'a' } as AttachmentInfo] }, 1000],
  ['calls of tools', false, { toolCalls: [{ id: 'c' } as ToolCallRecord] }, 1000],
  ['a fragment', false, { incomplete: 'interrupted' }, 1000],
  ['a small budget', false, {}, 20],
])('a history is not measured when it certainly fits: %s', (_what, fits, more, tokens) => {
  const history = [placed(1), placed(2, more)];
  const budget = { tokens, tokensAfter: tokens, messages: 2, messagesAfter: 2 };
  const place = { seq: 3, cut: NOTHING, otherTokens: 10 };
  expect(surelyFits(history, place, budget)).toBe(fits);
  expect(surelyFits(history, { ...place, seq: 4 }, budget)).toBe(false);
  expect(surelyFits(history.slice(1), { ...place, seq: 2 }, budget)).toBe(false);
  expect(surelyFits(history, place, { ...budget, messages: 1 })).toBe(false);
});

test('a note stands before everything that is said', () => {
  const fresh = userMessage({ content: 'Hello', attachments: [] }, new Map());
  expect(withNote([fresh], 'Note.')).toEqual([
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'Note.' },
        { type: 'text', text: 'Hello' },
      ],
    },
  ]);
  expect(withNote([fresh], '')).toEqual([fresh]);
});

test('the last results are cut only when nothing else is left', () => {
  const steps = new Map([['m2', [asked('', '1'), answered('1', 'x'.repeat(40_000))]]]);
  const exchanges = exchangesOf([placed(1), placed(2)], steps, NOTHING);
  const budget = { tokens: 800, tokensAfter: 600, messages: 200, messagesAfter: 120 };
  const beside = { otherTokens: 0, unread: 0 };
  expect(contextCut(exchanges, NOTHING, budget, beside)).toEqual({ messages: 0, results: 2 });
});

function call(id: string) {
  return { id, name: 'echo', arguments: { text: id } };
}
function result(callId: string) {
  return { callId, content: `result ${callId}`, isError: false };
}
function user(seq: number) {
  return { role: 'user', parts: [{ type: 'text', text: `text ${seq}` }] };
}
