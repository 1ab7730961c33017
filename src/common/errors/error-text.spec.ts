import { stackOf } from './error-text.js';

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
