import { sentenceOf, stackOf } from './error-text.js';

test('an error is described with the place where it was thrown; any other thrown value as it is', () => {
  expect(stackOf(new TypeError('wrong'))).toMatch(/^TypeError: wrong\n +at /);
  const bare = new Error('without a stack');
  delete bare.stack;
  expect([stackOf(bare), stackOf('a word'), stackOf(undefined)]).toEqual([
    'without a stack',
    'a word',
    'undefined',
  ]);
});

test('the sentence of an error is its message; several addresses that could not be reached say it with their first', () => {
  expect(sentenceOf(new TypeError('wrong'))).toBe('wrong');
  expect(sentenceOf('a word')).toBe('a word');
  const addresses = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:5432`));
  expect(sentenceOf(new AggregateError(addresses))).toBe('connect ECONNREFUSED ::1:5432');
  expect(sentenceOf(new AggregateError(addresses, 'of its own'))).toBe('of its own');
});
