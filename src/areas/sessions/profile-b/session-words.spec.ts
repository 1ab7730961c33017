import { FILTER_WORDS_B } from './session-words.js';

describe('session words of Profile B', () => {
  test('filter as the specification lists them: active, idle, terminated', () => {
    expect(FILTER_WORDS_B).toEqual(['active', 'idle', 'terminated']);
  });
});
