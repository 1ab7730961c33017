import { RecentSecrets } from './recent-secrets.js';
import { Redactor } from './redactor.js';
import { REDACTED } from './secret-finder.js';

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => `secret-number-${from + n}.`);

test('the newest are hidden, at least half of the bound, and never more than it', () => {
  const redactor = new Redactor(10);
  const recent = new RecentSecrets(redactor, 'test', 10);
  for (const [n, secret] of names(0, 101).entries()) {
    recent.add(secret);
    for (const one of names(Math.max(0, n - 4), n + 1)) expect(redactor.redact(one)).toBe(REDACTED);
  }
  expect(redactor.redact('secret-number-80.')).toBe('secret-number-80.');
});

test('one that is given again stays as long as any', () => {
  const redactor = new Redactor();
  const recent = new RecentSecrets(redactor, 'test', 4);
  for (const other of names(0, 20)) {
    recent.add('the-same-each-time');
    recent.add(other);
  }
  expect(redactor.redact('the-same-each-time')).toBe(REDACTED);
});
