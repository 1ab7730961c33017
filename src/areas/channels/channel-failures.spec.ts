import { NotSent } from './channel-failures.js';

test('a call that may be repeated is retried after an unknown outcome, but not after a rejection', () => {
  const unknown = new NotSent('unknown', 'reset', 500);
  expect(unknown.asRetryable()).toMatchObject({ why: 'retry', message: 'reset', retryAfterMs: 500 });
  const never = new NotSent('rejected', 'gone');
  expect(never.asRetryable()).toBe(never);
});
