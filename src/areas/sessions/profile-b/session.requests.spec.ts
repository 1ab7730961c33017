import { STATUS_FILTERS_B } from './session.requests.js';

describe('session words of Profile B', () => {
  test('filter as the specification lists them: active, idle, terminated', () => {
    expect(STATUS_FILTERS_B).toEqual(['active', 'idle', 'terminated']);
  });
});
