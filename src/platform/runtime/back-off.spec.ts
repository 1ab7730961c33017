import { backOffMs } from './back-off.js';

test('the limit starts at the given time, doubles with every failure in a row, and stops at a minute', () => {
  const limits = [0, 1, 2, 3, 6, 7, 8, 1000].map((failures) => backOffMs(failures, 500, () => 1));
  expect(limits).toEqual([500, 1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000]);
});

test('the jitter is full: anything below the limit', () => {
  expect(backOffMs(3, 500, () => 0)).toBe(0);
  expect(backOffMs(3, 500, () => 0.25)).toBe(1000);
});
