import { Forbidden, NotFound, RateLimited, Unauthorized } from '../../common/errors/gateway-error.js';
import type { AuditEntry, AuditLog } from '../../platform/audit-log/audit-log.js';
import type { Logs } from '../../platform/logging/logger.js';
import { RefusalLog } from './refusal-log.js';

const MINUTE_MS = 60_000;

let lines: { message: string; fields: Record<string, unknown> }[];
let audited: AuditEntry[];
let log: RefusalLog;
beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  const entries: AuditEntry[] = [];
  audited = entries;
  const record = (entry: AuditEntry) => Promise.resolve(void entries.push(entry));
  const warn = (message: string, fields: Record<string, unknown>) => void lines.push({ message, fields });
  log = new RefusalLog({ record } as unknown as AuditLog, { for: () => ({ warn }) } as unknown as Logs);
});
afterEach(() => jest.useRealTimers());

const messages = () => lines.map(({ message }) => message);
const times = (count: number, work: (n: number) => void) => Array.from({ length: count }, (_, n) => work(n));

test('the first refused login of an address is logged at once, the others as one line a minute', () => {
  times(500, () => log.note(new Unauthorized('No token.'), { address: '203.0.113.7' }));
  expect(messages()).toEqual(['login refused from 203.0.113.7: No token.']);
  jest.advanceTimersByTime(MINUTE_MS);
  expect(messages().slice(1)).toEqual(['499 more: login refused from 203.0.113.7, within 60 s']);
  expect(lines[1]?.fields).toEqual({ address: '203.0.113.7', status: 401, count: 499 });
  jest.advanceTimersByTime(10 * MINUTE_MS);
  expect(lines).toHaveLength(2);
});

test('a single refusal gets no second line; after the minute a new window begins', () => {
  log.note(new Unauthorized('No token.'), { address: '203.0.113.7' });
  jest.advanceTimersByTime(MINUTE_MS);
  log.note(new Unauthorized('No token.'), { address: '203.0.113.7' });
  expect(messages()).toEqual(Array(2).fill('login refused from 203.0.113.7: No token.'));
});

test('addresses of one IPv6 /64 are one caller', () => {
  times(50, (n) => log.note(new Unauthorized('No token.'), { address: `2001:db8:1:2::${n}` }));
  log.note(new Unauthorized('No token.'), { address: '2001:db8:1:3::1' });
  expect(lines.map(({ fields }) => fields['address'])).toEqual(['2001:db8:1:2::/64', '2001:db8:1:3::/64']);
});

test('refused scopes and refused rates are summed by token, separately', () => {
  const refused = { token: 'tok_1', address: '203.0.113.7' };
  times(3, () => log.note(new Forbidden('It lacks the scope.'), refused));
  times(4, () => log.note(new RateLimited('Too many.'), refused));
  jest.advanceTimersByTime(MINUTE_MS);
  expect(messages()).toEqual([
    'request refused with 403 for token tok_1: It lacks the scope.',
    'request refused with 429 for token tok_1: Too many.',
    '2 more: request refused with 403 for token tok_1, within 60 s',
    '3 more: request refused with 429 for token tok_1, within 60 s',
  ]);
});

test('other errors are ignored', () => {
  log.note(new NotFound('It is not there.'), { address: '203.0.113.7' });
  jest.advanceTimersByTime(MINUTE_MS);
  expect(lines).toEqual([]);
});

test('a flood from many addresses is bounded: past a thousand callers a minute they are one line', () => {
  times(5000, (n) => log.note(new Unauthorized('No token.'), { address: `10.1.${n >> 8}.${n & 255}` }));
  expect(lines).toHaveLength(1000);
  jest.advanceTimersByTime(MINUTE_MS);
  expect(messages().slice(1000)).toEqual(['4000 more: login refused from many other callers, within 60 s']);
});

test('failed logins (summed): one entry of the audit a minute for each address, and none for other refusals', async () => {
  times(500, () => log.note(new Unauthorized('No token.'), { address: '203.0.113.7' }));
  times(5, () => log.note(new Forbidden('It lacks the scope.'), { address: '203.0.113.7' }));
  expect(audited).toEqual([]);
  await jest.advanceTimersByTimeAsync(10 * MINUTE_MS);
  expect(audited).toEqual([
    {
      ...{ action: 'login.failed', actor: 'unknown', outcome: 'refused' },
      ...{ address: '203.0.113.7', target: '203.0.113.7', details: { count: 500 } },
    },
  ]);
});

test('a stop logs the sums so far', async () => {
  times(2, () => log.note(new Unauthorized('No token.'), { address: '203.0.113.7' }));
  await log.onModuleDestroy();
  expect(messages().at(-1)).toContain('1 more: login refused from 203.0.113.7');
});
