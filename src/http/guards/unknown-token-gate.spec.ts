import { RateLimited } from '../../common/errors/gateway-error.js';
import type { RateDecision } from '../../platform/rate-limits/rate-limiter.port.js';
import type { Settings } from '../../platform/settings/settings.js';
import { type RateCharge, rateLimited } from './rate-charge.js';
import { MAX_WAITING, UnknownTokenGate } from './unknown-token-gate.js';

const LIMIT = 5;
const settings = { current: { rate_limits: { other: LIMIT } } } as unknown as Settings;
const charge = { refusal: (decision: RateDecision) => rateLimited(decision) } as unknown as RateCharge;
const settled = () => new Promise(setImmediate);

// The clock stands still: on a busy machine the bucket would refill during a test.
beforeEach(() => jest.useFakeTimers({ now: 0, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => jest.useRealTimers());

function outcomes(gate: UnknownTokenGate, group: string, count: number): string[] {
  const seen: string[] = [];
  for (let i = 0; i < count; i += 1) {
    gate
      .of(group, 'other')
      .enter()
      .then(
        () => seen.push('let in'),
        (error: unknown) => seen.push(error instanceof RateLimited ? 'refused' : String(error)),
      );
  }
  return seen;
}

test('a token that arrives during other look-ups waits for their results', async () => {
  const gate = new UnknownTokenGate(charge, settings);
  const seen = outcomes(gate, '203.0.113.7', LIMIT + 2);
  await settled();
  expect(seen).toEqual(Array(LIMIT).fill('let in'));
  gate.of('203.0.113.7', 'other').leave(true);
  await settled();
  expect(seen).toEqual(Array(LIMIT + 1).fill('let in'));
  for (let i = 0; i < LIMIT; i += 1) gate.of('203.0.113.7', 'other').leave(false);
  await settled();
  expect(seen).toEqual([...Array<string>(LIMIT + 1).fill('let in'), 'refused']);
});

test('another address does not wait, and no one waits for finished look-ups', async () => {
  const gate = new UnknownTokenGate(charge, settings);
  const seen = outcomes(gate, '203.0.113.7', LIMIT);
  for (let i = 0; i < LIMIT; i += 1) gate.of('203.0.113.7', 'other').leave(false);
  await settled();
  const late = outcomes(gate, '203.0.113.7', 1);
  const other = outcomes(gate, '203.0.113.8', 1);
  await settled();
  expect([seen.length, late, other]).toEqual([LIMIT, ['refused'], ['let in']]);
});

test('a limited number wait; the others are refused at once', async () => {
  const gate = new UnknownTokenGate(charge, settings);
  const seen = outcomes(gate, '203.0.113.7', LIMIT + MAX_WAITING + 3);
  await settled();
  expect(seen.filter((outcome) => outcome === 'refused')).toHaveLength(3);
  const elsewhere = outcomes(gate, '203.0.113.8', 1);
  await settled();
  expect(elsewhere).toEqual(['let in']);
});

test('a look-up that waits for something else holds no one up, and counts once', async () => {
  const gate = new UnknownTokenGate(charge, settings);
  const one = gate.of('203.0.113.7', 'other');
  const seen = outcomes(gate, '203.0.113.7', LIMIT + 1);
  await settled();
  let finish: () => void = () => undefined;
  const waits = Array.from({ length: LIMIT }, () =>
    one.outside(() => new Promise<void>((resolve) => (finish = combined(finish, resolve)))),
  );
  await settled();
  expect(seen).toEqual([...Array<string>(LIMIT).fill('let in'), 'refused']);
  finish();
  await Promise.all(waits);
  for (let i = 0; i < LIMIT; i += 1) one.leave(true);
  const later = outcomes(gate, '203.0.113.7', LIMIT);
  await settled();
  expect(later).toEqual(Array(LIMIT).fill('let in'));
});

function combined(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}
