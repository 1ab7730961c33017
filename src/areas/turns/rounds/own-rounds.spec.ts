import { messageTokens } from '../../models/models.api.js';
import { type OwnRound, RESULT_CUT, roundMessages, type ShownResults, shortened } from './own-rounds.js';

/** A round of calls whose results take about so many tokens each. */
const round = (name: string, ...tokens: number[]): OwnRound => ({
  asked: { role: 'assistant', text: '', toolCalls: [] },
  results: tokens.map((size, index) => ({
    callId: `${name}${index}`,
    content: 'word'.repeat(size),
    isError: false,
  })),
});
const BUDGET = { tokens: 1000, tokensAfter: 600 };
const tokensOf = (rounds: readonly OwnRound[], shown: ShownResults) =>
  roundMessages(rounds, shown).reduce((sum, message) => sum + messageTokens(message), 0);
const contents = (rounds: readonly OwnRound[], shown: ShownResults) =>
  roundMessages(rounds, shown).flatMap((message) =>
    message.role === 'tool' ? message.results.map(({ content }) => content) : [],
  );

test('rounds that fit are shown whole', () => {
  expect(shortened([round('a', 300), round('b', 300)], {}, BUDGET, 100)).toBeUndefined();
});

test('past the budget the oldest rounds lose their results, until a share is left', () => {
  const rounds = [round('a', 300), round('b', 300), round('c', 300), round('d', 50)];
  const shown = shortened(rounds, {}, BUDGET, 100)!;
  expect(contents(rounds, shown).map((text) => text === RESULT_CUT)).toEqual([true, true, false, false]);
  expect(tokensOf(rounds, shown) + 100).toBeLessThanOrEqual(600);
  // It holds for the calls that follow.
  expect(shortened([...rounds, round('e', 200)], shown, BUDGET, 100)).toBeUndefined();
});

test('when nothing else is left, every result of the last round is shortened', () => {
  const rounds = [round('a', 200), round('b', 20, 2000, 3000)];
  const shown = shortened(rounds, {}, BUDGET, 100)!;
  const [first, small, middle, large] = contents(rounds, shown);
  expect(first).toBe(RESULT_CUT);
  expect(small).toBe('word'.repeat(20));
  for (const text of [middle, large])
    expect(text).toMatch(/^(word){100,}.*\n\[cut, because the conversation is long: \d+ bytes in all\]$/);
  expect(tokensOf(rounds, shown) + 100).toBeLessThanOrEqual(1000);
});

test('the same rounds are shortened in the same way again, wherever it starts', () => {
  const rounds = [round('a', 300), round('b', 500), round('c', 400), round('d', 900)];
  let shown: ShownResults = {};
  for (let count = 1; count <= rounds.length; count += 1)
    shown = shortened(rounds.slice(0, count), shown, BUDGET, 50) ?? shown;
  expect(shortened(rounds, shown, BUDGET, 50)).toBeUndefined();
  expect(tokensOf(rounds, shown) + 50).toBeLessThanOrEqual(1000);
});

test('pictures are left out with the text that is cut', () => {
  const drawn: OwnRound = {
    ...round('a'),
    results: [
      {
        ...{ callId: 'a0', content: 'drawn', isError: false },
        parts: [{ type: 'image', mimeType: 'image/png', data: '' }],
      },
    ],
  };
  const shown = shortened([drawn], {}, BUDGET, 100)!;
  expect(contents([drawn], shown)).toEqual(['drawn']);
  expect(roundMessages([drawn], shown)[1]).toEqual({
    role: 'tool',
    results: [{ callId: 'a0', content: 'drawn', isError: false }],
  });
});
