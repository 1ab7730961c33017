import { NotSent } from './channel-failures.js';

test('where sending twice does no harm, what may have arrived is sent again; what never will, is not', () => {
  const unknown = new NotSent('unknown', 'reset', 500);
  expect(unknown.asAgain()).toMatchObject({ why: 'again', message: 'reset', retryAfterMs: 500 });
  const never = new NotSent('never', 'gone');
  expect(never.asAgain()).toBe(never);
});
