import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { silentLogs } from '../logging/logger.js';
import { IssuerKeys } from './issuer-keys.js';

const SECOND = 1000;
const HOUR = 3_600_000;

let key: JWK;
beforeAll(async () => {
  const { publicKey } = await generateKeyPair('RS256', { extractable: true });
  key = await exportJWK(publicKey);
});
beforeEach(() =>
  jest.useFakeTimers({
    now: Date.UTC(2026, 0, 1),
    doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'],
  }),
);
afterEach(() => jest.useRealTimers());

/** An issuer whose keys have these names, and which may be away. */
function issuer(...kids: string[]) {
  const state = { kids, isAway: false, fetches: 0 };
  const keys = new IssuerKeys({
    issuer: 'https://login.example.com/',
    logger: silentLogs.for('test'),
    fetch: () => {
      state.fetches += 1;
      if (state.isAway) return Promise.reject(new Error('away'));
      return Promise.resolve({ keys: state.kids.map((kid) => ({ ...key, kid, alg: 'RS256' })) });
    },
  });
  const find = (kid: string) => keys.keyFor({ alg: 'RS256', kid });
  /** `found`, `none`, or what it is refused with. */
  const asked = (kid: string): Promise<string> =>
    find(kid).then(
      (found) => (found === undefined ? 'none' : 'found'),
      (error: unknown) => String((error as { status?: number }).status),
    );
  return { state, keys, asked };
}

const settled = async (): Promise<void> => {
  for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('keys are kept for 24 hours when the issuer is away', async () => {
  const { state, keys, asked } = issuer('first');
  expect(await asked('first')).toBe('found');
  state.isAway = true;
  for (const hours of [1, 22.9]) {
    jest.advanceTimersByTime(hours * HOUR);
    await keys.refreshWhenDue();
    expect([await asked('first'), Math.round(keys.ageMs / HOUR)]).toEqual(['found', hours === 1 ? 1 : 24]);
  }
  jest.advanceTimersByTime(0.2 * HOUR);
  expect(await asked('first')).toBe('503');
  state.isAway = false;
  jest.advanceTimersByTime(31 * SECOND);
  await keys.refreshWhenDue();
  expect([await asked('first'), keys.ageMs]).toEqual(['found', 0]);
});

test('without any keys their age is infinite', () => {
  expect(issuer().keys.ageMs).toBe(Number.POSITIVE_INFINITY);
});

test('an unknown key is fetched at once, and the next unknown key not within ten seconds', async () => {
  const { state, asked } = issuer('first');
  await asked('first');
  state.kids = ['first', 'second'];
  expect([await asked('second'), state.fetches]).toEqual(['found', 2]);
  state.kids = ['second', 'third'];
  const waiting = asked('third');
  await settled();
  expect(state.fetches).toBe(2);
  jest.advanceTimersByTime(10 * SECOND);
  expect([await waiting, state.fetches]).toEqual(['found', 3]);
});

test('tokens of eight unknown keys wait for one fetch; others are refused at once and told when to try again', async () => {
  const { state, keys, asked } = issuer('first');
  await asked('first');
  expect(await asked('none')).toBe('none');
  const { fetches } = state;
  jest.advanceTimersByTime(4 * SECOND);
  const waiting = Array.from({ length: 8 }, (_, n) => asked(`none-${n}`));
  await settled();
  const refused = await Promise.all(Array.from({ length: 500 }, (_, n) => asked(`more-${n}`)));
  expect(new Set(refused)).toEqual(new Set(['503']));
  await expect(keys.keyFor({ alg: 'RS256', kid: 'late' })).rejects.toMatchObject({ retryAfterSecs: 6 });
  // A good token of a key that is waited for is not among them.
  state.kids = ['first', 'none-3'];
  const good = asked('none-3');
  // Keys at hand are not held up.
  expect([await asked('first'), state.fetches]).toEqual(['found', fetches]);
  jest.advanceTimersByTime(6 * SECOND);
  expect(await good).toBe('found');
  expect((await Promise.all(waiting)).filter((one) => one === 'found')).toHaveLength(1);
  expect(state.fetches).toBe(fetches + 1);
});

test('places are free again after the fetch', async () => {
  const { asked } = issuer('first');
  await asked('none');
  for (let round = 0; round < 3; round += 1) {
    const waiting = Array.from({ length: 8 }, (_, n) => asked(`none-${round}-${n}`));
    await settled();
    expect(await asked(`more-${round}`)).toBe('503');
    jest.advanceTimersByTime(10 * SECOND);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['none']));
  }
});
