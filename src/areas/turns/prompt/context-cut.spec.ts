import { type ContextBudget, contextBudget, contextCut, type ExchangeSize } from './context-cut.js';

const NOTHING = { messages: 0, results: 0 };
const budget: ContextBudget = { tokens: 800, tokensAfter: 600, messages: 20, messagesAfter: 12 };
/** So many exchanges of a question and an answer; what each takes, and how much of it are results. */
const exchanges = (count: number, tokens: number, resultTokens = 0): ExchangeSize[] =>
  Array.from({ length: count }, (_, index) => ({
    through: 2 * (index + 1),
    messages: 2,
    tokens,
    resultTokens,
  }));
const cutOf = (history: readonly ExchangeSize[], inForce = NOTHING, otherTokens = 0, unread = 0) =>
  contextCut(history, inForce, budget, { otherTokens, unread });

test('while everything fits, nothing more is cut', () => {
  const inForce = { messages: 0, results: 4 };
  expect(cutOf(exchanges(8, 100), inForce)).toBe(inForce);
  expect(cutOf(exchanges(8, 100), inForce, 1)).not.toBe(inForce);
});

test('past the budget whole exchanges are cut, the oldest first, until 0.6 is left', () => {
  expect(cutOf(exchanges(9, 100))).toEqual({ messages: 6, results: 6 });
  expect(cutOf(exchanges(8, 100), NOTHING, 101)).toEqual({ messages: 8, results: 8 });
});

test('the results of tools are cut before any exchange, the oldest first', () => {
  expect(cutOf(exchanges(9, 100, 60))).toEqual({ messages: 0, results: 10 });
});

test('when the results are not enough, exchanges are cut too', () => {
  expect(cutOf(exchanges(9, 100, 10))).toEqual({ messages: 6, results: 16 });
});

test('the last exchange stays, however little room there is; its results are cut last of all', () => {
  expect(cutOf(exchanges(1, 5000))).toEqual(NOTHING);
  expect(cutOf(exchanges(3, 5000))).toEqual({ messages: 4, results: 4 });
  expect(cutOf(exchanges(3, 5000, 4900))).toEqual({ messages: 4, results: 6 });
  expect(cutOf([], NOTHING, 5000)).toEqual(NOTHING);
});

test('too many messages are cut like too many tokens, in a block', () => {
  expect(cutOf(exchanges(10, 1))).toBe(NOTHING);
  expect(cutOf(exchanges(11, 1))).toEqual({ messages: 10, results: 10 });
});

test('messages that were not even read are cut with those older than them', () => {
  const newest = exchanges(10, 1).map((one) => ({ ...one, through: one.through + 1980 }));
  expect(cutOf(newest, NOTHING, 0, 1980)).toEqual({ messages: 1988, results: 1988 });
});

test('after a cut there is room for many calls', () => {
  let inForce = NOTHING;
  let cuts = 0;
  const said: ExchangeSize[] = [];
  for (let turn = 1; turn <= 500; turn += 1) {
    said.push({ through: 2 * turn, messages: 2, tokens: 20, resultTokens: 0 });
    const sent = said.filter(({ through }) => through > inForce.messages);
    const next = contextCut(sent, inForce, { ...budget, messages: 1000 }, { otherTokens: 0, unread: 0 });
    if (next !== inForce) cuts += 1;
    inForce = next;
  }
  expect(cuts).toBeGreaterThan(10);
  expect(cuts).toBeLessThan(50);
});

test('the budget leaves room for the answer', () => {
  const settings = {
    context_tokens: 1000,
    compact_at: 0.8,
    history_max_messages: 200,
  };
  expect(contextBudget(settings, 100)).toEqual({
    tokens: 800,
    tokensAfter: 600,
    messages: 200,
    messagesAfter: 120,
  });
  expect(contextBudget(settings, 600)).toMatchObject({
    tokens: 400,
    tokensAfter: 300,
  });
});
