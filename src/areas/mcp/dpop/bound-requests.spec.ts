import { decodeJwt } from 'jose';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { askedWith, asksForBearersAlone, isOfNoUse, requestWith } from './bound-requests.js';
import { OfferedAlgorithms } from './offered-algorithms.js';
import { ProofKeys } from './proof-keys.js';

const URL = 'https://desk.test/mcp';
const ENDPOINT = 'https://login.test/token';
const newKey = () =>
  new ProofKeys().keyFor({ url: URL } as McpServerSettings, 'always', 'https://login.test', ['ES256']);

const sent: Headers[] = [];
beforeEach(() => (sent.length = 0));
const nonces = () => sent.map((headers) => decodeJwt(headers.get('dpop') ?? '')['nonce']);
/** A server that answers so, in order. */
const answering = (...answers: Response[]) => {
  return (_to: unknown, init?: RequestInit): Promise<Response> => {
    sent.push(new Headers(init?.headers));
    const next = answers.shift();
    return next === undefined ? Promise.reject(new Error('one too many')) : Promise.resolve(next);
  };
};
const refusal = (
  nonce: string,
  challenge = 'DPoP error="use_dpop_nonce"',
  body: ReadableStream | null = null,
) => new Response(body, { status: 401, headers: { 'www-authenticate': challenge, 'dpop-nonce': nonce } });
const init = { method: 'POST', headers: { authorization: 'Bearer old', 'x-own': '1' } };

test('a token without a key is sent as that of its bearer', async () => {
  const answer = await requestWith({ token: 'token' }, answering(new Response('fine')), URL, init);
  expect(await answer.text()).toBe('fine');
  expect([...(sent[0] ?? [])]).toEqual([
    ['authorization', 'Bearer token'],
    ['x-own', '1'],
  ]);
});

test('a request is made once more with the nonce that the server wants, and no answer of a run is', async () => {
  const token = { token: 'token', key: await newKey() };
  const fetch = answering(refusal('first'), new Response('fine', { headers: { 'dpop-nonce': 'second' } }));
  expect(await (await requestWith(token, fetch, URL, init)).text()).toBe('fine');
  expect(nonces()).toEqual([undefined, 'first']);
  expect(sent[1]?.get('authorization')).toBe('DPoP token');
  for (const status of [200, 400, 403, 500]) {
    const headers = { 'dpop-nonce': `of ${status}`.replace(' ', '-') };
    const answer = await requestWith(token, answering(new Response(null, { status, headers })), URL, init);
    expect(answer.status).toBe(status);
  }
  expect(nonces().slice(2)).toEqual(['second', 'of-200', 'of-400', 'of-403']);
});

test.each(['DPoP error="invalid_token"', 'Bearer error="use_dpop_nonce"', 'DPoP'])(
  'a refusal with %s is the answer',
  async (challenge) => {
    const token = { token: 'token', key: await newKey() };
    expect((await requestWith(token, answering(refusal('next', challenge)), URL, init)).status).toBe(401);
    expect(sent).toHaveLength(1);
  },
);

test('a server that then wants another one gets no third request, and what it sends with it is not read', async () => {
  const token = { token: 'token', key: await newKey() };
  let read = 0;
  const long = () =>
    new ReadableStream({
      pull: (controller) => {
        read += 1;
        controller.enqueue(new Uint8Array(1000));
        if (read > 1000) controller.close();
      },
    });
  const fetch = answering(refusal('first', undefined, long()), refusal('second', undefined, long()));
  await expect(requestWith(token, fetch, URL, init)).rejects.toThrow(
    'https://desk.test wants another nonce in the proof of the token each time it is asked',
  );
  expect(nonces()).toEqual([undefined, 'first']);
  expect(read).toBeLessThan(5);
});

test.each<[string, boolean]>([
  ['Bearer', true],
  ['Bearer error="invalid_token"', true],
  ['Basic realm="x", bearer scope="a"', true],
  ['Bearer, DPoP algs="ES256"', false],
  ['DPoP', false],
  ['Basic', false],
  ['', false],
])('a server that asks for %j takes bearer tokens alone: %s', async (challenge, isAlone) => {
  const refused = () => new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
  expect(asksForBearersAlone(refused())).toBe(isAlone);
  const [key, used] = [await newKey(), await newKey()];
  await requestWith({ token: 'token', key }, answering(refused()), URL, init);
  expect(isOfNoUse(key)).toBe(isAlone);
  // One that took a bound token before refuses this one for another reason.
  await requestWith({ token: 'token', key: used }, answering(new Response()), URL, init);
  await requestWith({ token: 'token', key: used }, answering(refused()), URL, init);
  expect(isOfNoUse(used)).toBe(false);
});

test('a key of which a server knows nothing is used no more, but with "always"', async () => {
  const keys = new ProofKeys();
  const keyFor = (mode: 'auto' | 'always') =>
    keys.keyFor({ url: URL } as McpServerSettings, mode, 'https://login.test', ['ES256']);
  const key = await keyFor('auto');
  const refused = new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
  await requestWith({ token: 'token', key }, answering(refused), URL, init);
  expect(await keyFor('auto')).toBeUndefined();
  expect(await keyFor('always')).toBe(key);
});

test('a token endpoint is asked once more with its nonce, which the next request has at once', async () => {
  const key = await newKey();
  const asked: unknown[] = [];
  const endpoint = (...answers: [number, unknown, string | undefined][]) =>
    askedWith(key, ENDPOINT, (headers) => {
      asked.push(decodeJwt(headers['dpop'] ?? ''));
      const [status = 0, error, nonce] = answers.shift() ?? [];
      return Promise.resolve({ status, error, headers: { 'dpop-nonce': nonce } });
    });
  const about = { htm: 'POST', htu: ENDPOINT };
  expect(await endpoint([400, 'use_dpop_nonce', 'first'], [200, undefined, 'second'])).toMatchObject({
    status: 200,
  });
  expect(await endpoint([400, 'invalid_grant', 'third'])).toMatchObject({ error: 'invalid_grant' });
  const twice = [400, 'use_dpop_nonce', 'fourth'] as [number, string, string];
  expect(await endpoint(twice, twice, twice)).toMatchObject({ status: 400, error: 'use_dpop_nonce' });
  expect(asked).toMatchObject([
    ...[about, { ...about, nonce: 'first' }, { ...about, nonce: 'second' }],
    ...[
      { ...about, nonce: 'third' },
      { ...about, nonce: 'fourth' },
    ],
  ]);
});

test('without a key no proof is sent', async () => {
  const ask = (headers: object) =>
    Promise.resolve({ status: 200, error: undefined, headers: {}, sent: headers });
  expect((await askedWith(undefined, ENDPOINT, ask)).sent).toEqual({});
});

test('what OpenID Connect says of proofs, which the library drops, counts for its issuer alone', async () => {
  const offered = new OfferedAlgorithms();
  const document = { issuer: 'https://login.test', dpop_signing_alg_values_supported: ['ES256'] };
  const well = 'https://login.test/.well-known/openid-configuration';
  const read = offered.noticedBy(answering(Response.json(document), new Response('{', { status: 404 })));
  expect(await (await read(well)).json()).toEqual(document);
  await read(well);
  const metadata = (more: object) => ({ issuer: 'https://login.test', ...more }) as never;
  expect(offered.of(metadata({}))).toEqual(['ES256']);
  expect(offered.of(metadata({ issuer: 'https://evil.test' }))).toBeUndefined();
  expect(offered.of(metadata({ dpop_signing_alg_values_supported: [] }))).toEqual([]);
  expect(offered.of(undefined)).toBeUndefined();
});
