import { SESSION_STATUSES } from '../session-status.js';
import { FILTER_WORDS_A, filterOfWordA, SESSION_WORDS_A, statusWordA } from './session-words.js';

describe('session words of Profile A', () => {
  test('show active for what is active or idle, and completed for what is terminated', () => {
    expect(SESSION_STATUSES.map(statusWordA)).toEqual(['active', 'active', 'completed']);
    expect(SESSION_WORDS_A).toEqual(['active', 'completed']);
  });

  test('filter as the specification lists them: active, completed, all', () => {
    expect(FILTER_WORDS_A).toEqual(['active', 'completed', 'all']);
    expect(FILTER_WORDS_A.map(filterOfWordA)).toEqual(['live', 'terminated', 'all']);
  });
});
