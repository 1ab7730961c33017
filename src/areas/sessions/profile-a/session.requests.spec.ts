import { SESSION_STATUSES } from '../session-status.js';
import { STATUS_FILTERS_A, statusFilterOf } from './session.requests.js';
import { SESSION_STATUSES_A, sessionStatusA } from './session.views.js';

describe('session words of Profile A', () => {
  test('show active for what is active or idle, and completed for what is terminated', () => {
    expect(SESSION_STATUSES.map(sessionStatusA)).toEqual(['active', 'active', 'completed']);
    expect(SESSION_STATUSES_A).toEqual(['active', 'completed']);
  });

  test('filter as the specification lists them: active, completed, all', () => {
    expect(STATUS_FILTERS_A).toEqual(['active', 'completed', 'all']);
    expect(STATUS_FILTERS_A.map(statusFilterOf)).toEqual(['live', 'terminated', 'all']);
  });
});
