import { defaultExpiry, parseExpiry } from './api-token.js';

const now = new Date('2026-01-01T00:00:00.000Z');

test('a token expires after 90 days unless another time is given', () => {
  expect(defaultExpiry(now)).toEqual(new Date('2026-04-01T00:00:00.000Z'));
});

test.each([
  ['90d', '2026-04-01T00:00:00.000Z'],
  ['12h', '2026-01-01T12:00:00.000Z'],
  ['30m', '2026-01-01T00:30:00.000Z'],
  ['45s', '2026-01-01T00:00:45.000Z'],
  ['36500d', '2125-12-08T00:00:00.000Z'],
])('%s counts from now', (text, end) => {
  expect(parseExpiry(text, now)).toEqual(new Date(end));
});

test('never means no expiry', () => {
  expect(parseExpiry('never', now)).toBeNull();
});

test.each(['', '0d', '-1d', '1.5d', '90', 'd', '1w', 'Never', ' 1d', '36501d', '999999999999d', '1d2h'])(
  '"%s" is refused',
  (text) => {
    expect(() => parseExpiry(text, now)).toThrow('Expected a time such as 90d');
  },
);
