import { nextDelaySecs, RETRY_DELAYS_SECS, retryAfterSecs } from './retry-schedule.js';

test('the waits are those of Standard Webhooks: 5 s, 5 min, 30 min, then 2, 5, 10, 14, 20 and 24 hours', () => {
  expect(RETRY_DELAYS_SECS).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
});

test.each(RETRY_DELAYS_SECS.map((planned, index) => [index + 1, planned]))(
  'after attempt %d the next comes in %d s, 20 %% sooner or later at most',
  (attempts, planned) => {
    expect(nextDelaySecs({ attempts }, () => 0)).toBeCloseTo(planned * 0.8);
    expect(nextDelaySecs({ attempts }, () => 0.5)).toBeCloseTo(planned);
    expect(nextDelaySecs({ attempts }, () => 1)).toBeCloseTo(planned * 1.2);
  },
);

test('the tenth attempt is the last', () => {
  expect(nextDelaySecs({ attempts: 10 })).toBeUndefined();
  expect(nextDelaySecs({ attempts: 10, retryAfterSecs: 5 })).toBeUndefined();
});

test('a receiver may ask for a longer wait of up to a day, and never for a shorter one', () => {
  expect(nextDelaySecs({ attempts: 1, retryAfterSecs: 120 }, () => 0.5)).toBe(120);
  expect(nextDelaySecs({ attempts: 2, retryAfterSecs: 0 }, () => 0.5)).toBe(300);
  expect(nextDelaySecs({ attempts: 1, retryAfterSecs: 1e9 }, () => 0.5)).toBe(86_400);
});

const now = Date.parse('2026-01-02T03:04:05Z');

test.each([
  ['120', 120],
  [' 0 ', 0],
  ['Fri, 02 Jan 2026 03:05:05 GMT', 60],
  ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
  [['7', '9'], 7],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['2026-01-02', undefined],
  ['99999999999', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After: %j is %j seconds', (header, expected) => expect(retryAfterSecs(header, now)).toBe(expected));
