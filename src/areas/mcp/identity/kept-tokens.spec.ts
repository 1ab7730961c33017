import { requestWith } from '../dpop/bound-requests.js';
import { ProofKeys } from '../dpop/proof-keys.js';
import { KeptTokens, requestProven } from './kept-tokens.js';

const hidden: string[][] = [];
let asked = 0;
const kept = (max = 10) => new KeptTokens(max, (tokens) => hidden.push(tokens));
const give = (token: string, livesSecs?: number) => () => {
  asked += 1;
  return Promise.resolve({ token, livesSecs });
};
beforeEach(() => {
  asked = 0;
  hidden.length = 0;
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
});
afterEach(() => jest.useRealTimers());

test('those who need a token at once share one request, and it is hidden before it is used', async () => {
  const tokens = kept();
  const both = await Promise.all([tokens.of('ada', give('first')), tokens.of('ada', give('second'))]);
  expect(both.map(({ token }) => token)).toEqual(['first', 'first']);
  expect([asked, hidden]).toEqual([1, [['first']]]);
});

test.each<[string, number | undefined, number, number]>([
  ['an hour', 3600, 3_569_000, 3_571_000],
  ['ten seconds', 10, 8_900, 9_100],
  ['a time that nobody named', undefined, 53_000, 55_000],
])('a token that lives %s is used until shortly before its end', async (_what, secs, before, after) => {
  const tokens = kept();
  await tokens.of('ada', give('first', secs));
  jest.advanceTimersByTime(before);
  expect((await tokens.of('ada', give('second'))).token).toBe('first');
  jest.advanceTimersByTime(after - before);
  expect((await tokens.of('ada', give('second'))).token).toBe('second');
});

test('keys have tokens of their own, and past the bound the oldest is dropped', async () => {
  const tokens = kept(2);
  for (const key of ['ada', 'bob', 'carl']) await tokens.of(key, give(`of ${key}`));
  expect((await tokens.of('carl', give('anew'))).token).toBe('of carl');
  expect((await tokens.of('ada', give('anew'))).token).toBe('anew');
});

test('a failure is told and not kept', async () => {
  const tokens = kept();
  await expect(tokens.of('ada', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect((await tokens.of('ada', give('first'))).token).toBe('first');
});

test('a token that is refused is replaced, and its successor not within half a minute', async () => {
  const tokens = kept();
  await tokens.of('ada', give('first', 3600));
  expect(tokens.refuse('ada', 'first')).toBe(true);
  expect(await tokens.of('ada', give('second', 3600))).toEqual({ token: 'second', isKept: false });
  expect(tokens.refuse('ada', 'first')).toBe(true);
  expect((await tokens.of('ada', give('third'))).token).toBe('second');
  expect(tokens.refuse('ada', 'second')).toBe(false);
  expect((await tokens.of('ada', give('third'))).token).toBe('second');
  jest.advanceTimersByTime(31_000);
  expect(tokens.refuse('ada', 'second')).toBe(true);
  expect((await tokens.of('ada', give('third'))).token).toBe('third');
});

test('a new token that is refused is not replaced, but for one that is bound to a key of which the server knows nothing', async () => {
  jest.useRealTimers();
  const tokens = kept();
  const key = await new ProofKeys().keyFor({ url: 'https://a.test' } as never, 'auto', 'https://b.test', [
    'ES256',
  ]);
  const shown: (string | null)[] = [];
  const server = (_to: unknown, init?: RequestInit) => {
    const scheme = new Headers(init?.headers).get('authorization');
    shown.push(scheme);
    const headers = { 'www-authenticate': 'Bearer' };
    return Promise.resolve(new Response(null, { status: scheme === 'Bearer second' ? 200 : 401, headers }));
  };
  const request = (user: string, ask: Parameters<KeptTokens['of']>[1]) =>
    requestProven(
      () => tokens.of(user, ask),
      (token) => tokens.refuse(user, token),
      (proof) => requestWith(proof, server, 'https://a.test/mcp', {}),
    );
  expect((await request('ada', give('plain', 3600))).status).toBe(401);
  expect(shown.splice(0)).toEqual(['Bearer plain']);
  const answers = [
    { token: 'first', key, livesSecs: 3600 },
    { token: 'second', livesSecs: 3600 },
  ];
  const next = () => Promise.resolve(answers.shift() ?? { token: 'third', livesSecs: 3600 });
  expect((await request('bob', next)).status).toBe(200);
  expect(shown).toEqual(['DPoP first', 'Bearer second']);
});
