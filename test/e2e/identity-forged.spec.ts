import { createHmac, createPublicKey, sign as signBytes } from 'node:crypto';
import { CompactEncrypt, exportJWK, exportSPKI } from 'jose';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  AUDIENCE,
  configEnv,
  issuerToml,
  removeConfigs,
  type SigningKey,
  signingKey,
  TestIssuer,
} from '../harness/identity.js';

jest.setTimeout(120_000);

let issuer: TestIssuer;
let foreign: SigningKey;
let elliptic: SigningKey;
let encrypting: SigningKey;
let gateway: TestGateway;

beforeAll(async () => {
  issuer = await TestIssuer.open();
  [foreign, elliptic, encrypting] = await Promise.all([
    signingKey('first'),
    signingKey('elliptic', 'ES256'),
    signingKey('for-encryption'),
  ]);
  issuer.keys = [
    ...issuer.keys,
    elliptic,
    { ...encrypting, jwk: { ...encrypting.jwk, use: 'enc' } },
    // Keys that no issuer should publish.
    {
      ...foreign,
      jwk: { kty: 'oct', k: 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0', kid: 'symmetric', alg: 'HS256' },
    },
  ];
  gateway = await startTestGateway({
    env: await configEnv(issuerToml(issuer, 'algorithms = ["RS256", "ES256"]\nmax_token_age_secs = 3600')),
  });
});
afterAll(async () => {
  await gateway.stop();
  await issuer.close();
  await removeConfigs();
});

const base64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const first = () => issuer.keys[0] as SigningKey;
const now = () => Math.floor(Date.now() / 1000);
const good = (claims = {}, header = {}) => issuer.sign(claims, { key: first(), header });
const claims = () => ({
  iss: issuer.url,
  aud: AUDIENCE,
  sub: 'ada',
  iat: now(),
  exp: now() + 300,
  groups: ['staff'],
});

/** The given header and payload, with a valid signature over exactly these bytes. */
async function signed(header: string | object, payload: string | object, key = first()): Promise<string> {
  const input = `${base64(header)}.${base64(payload)}`;
  const der = await crypto.subtle.exportKey('pkcs8', key.privateKey);
  const signature = signBytes('sha256', Buffer.from(input), {
    key: Buffer.from(der),
    format: 'der',
    type: 'pkcs8',
  });
  return `${input}.${signature.toString('base64url')}`;
}
const usualHeader = () => ({ alg: 'RS256', kid: 'first', typ: 'JWT' });
async function hmac(header: object, secret: string | Buffer): Promise<string> {
  const input = `${base64(header)}.${base64(claims())}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}
async function changed(part: 0 | 1 | 2, change: (text: string) => string): Promise<string> {
  const parts = (await good()).split('.');
  parts[part] = change(parts[part] ?? '');
  return parts.join('.');
}
const withLast = (text: string) => text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A');

type Forge = () => Promise<string>;
const FORGED: readonly (readonly [string, Forge])[] = [
  ['alg none and no signature', async () => `${base64({ alg: 'none' })}.${base64(claims())}.`],
  [
    'alg none and a signature',
    async () => `${base64({ alg: 'none', kid: 'first' })}.${base64(claims())}.AAAA`,
  ],
  ['alg None in another spelling', async () => `${base64({ alg: 'nOnE' })}.${base64(claims())}.AAAA`],
  [
    'HMAC with the public key as PEM',
    async () => hmac({ ...usualHeader(), alg: 'HS256' }, await exportSPKI(first().publicKey)),
  ],
  [
    'HMAC with the public key as DER',
    async () =>
      hmac(
        { ...usualHeader(), alg: 'HS256' },
        createPublicKey({ key: await exportJWK(first().publicKey), format: 'jwk' } as never).export({
          format: 'der',
          type: 'spki',
        }),
      ),
  ],
  ['HMAC with the modulus', async () => hmac({ ...usualHeader(), alg: 'HS256' }, first().jwk.n ?? '')],
  [
    'HMAC with a symmetric key that the issuer publishes',
    async () => hmac({ alg: 'HS256', kid: 'symmetric' }, 'secret-secret-secret-secret'),
  ],
  ['an algorithm that is not allowed', async () => signed({ ...usualHeader(), alg: 'RS512' }, claims())],
  ['another algorithm than the key has', async () => signed({ ...usualHeader(), alg: 'ES256' }, claims())],
  ['no alg', async () => signed({ kid: 'first' }, claims())],
  ['alg a number', async () => signed({ alg: 256, kid: 'first' }, claims())],
  ['signed with a foreign key under a known kid', async () => issuer.sign({}, { key: foreign })],
  ['the kid of another key', async () => good({}, { kid: 'elliptic' })],
  ['a key for encryption', async () => issuer.sign({}, { key: encrypting })],
  ['no kid, of an issuer with several keys', async () => signed({ alg: 'RS256' }, claims(), foreign)],
  ['a kid that leads to a file', async () => good({}, { kid: '../../../../dev/null' })],
  ['a kid with SQL', async () => good({}, { kid: "first' OR '1'='1" })],
  ['a kid that is a number', async () => signed({ alg: 'RS256', kid: 1 }, claims())],
  ['a kid that is too long', async () => good({}, { kid: 'k'.repeat(300) })],
  ['an embedded jwk', async () => issuer.sign({}, { key: foreign, header: { jwk: foreign.jwk } })],
  ['an embedded jwk on a right signature', async () => good({}, { jwk: first().jwk })],
  ['a jku', async () => good({}, { jku: 'https://evil.example/keys' })],
  ['an x5u', async () => good({}, { x5u: 'https://evil.example/cert' })],
  ['an x5c', async () => good({}, { x5c: ['AAAA'] })],
  ['crit', async () => signed({ ...usualHeader(), crit: ['exp'], exp: 1 }, claims())],
  ['an empty crit', async () => signed({ ...usualHeader(), crit: [] }, claims())],
  ['an unencoded payload (b64)', async () => signed({ ...usualHeader(), b64: false }, claims())],
  ['compressed (zip)', async () => signed({ ...usualHeader(), zip: 'DEF' }, claims())],
  ['a foreign issuer', async () => good({ iss: 'https://evil.example/' })],
  ['the issuer with a slash more', async () => good({ iss: `${issuer.url}/` })],
  ['the issuer in a list', async () => good({ iss: [issuer.url] })],
  ['no issuer', async () => good({ iss: undefined })],
  ['a foreign audience', async () => good({ aud: 'another-service' })],
  ['only foreign audiences', async () => good({ aud: ['one', 'two'] })],
  ['the audience as a part of a word', async () => good({ aud: `${AUDIENCE}-two` })],
  ['no audience', async () => good({ aud: undefined })],
  ['expired', async () => good({ exp: now() - 61, iat: now() - 400 })],
  ['no exp', async () => good({ exp: undefined })],
  ['exp as text', async () => good({ exp: String(now() + 300) })],
  [
    'exp without end',
    async () => signed(usualHeader(), JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e400')),
  ],
  ['not yet valid', async () => good({ nbf: now() + 120 })],
  ['nbf as text', async () => good({ nbf: 'now' })],
  ['issued in the future', async () => good({ iat: now() + 120 })],
  ['issued longer ago than max_token_age_secs', async () => good({ iat: now() - 3700 })],
  ['no iat', async () => good({ iat: undefined })],
  ['a negative iat', async () => good({ iat: -1 })],
  ['no subject', async () => good({ sub: undefined })],
  ['an empty subject', async () => good({ sub: '' })],
  ['a subject that is no text', async () => good({ sub: { id: 'ada' } })],
  ['a subject with a line feed', async () => good({ sub: 'ada\nroot' })],
  ['a subject that is too long', async () => good({ sub: 'a'.repeat(257) })],
  ['a jti that is no text', async () => good({ jti: 7 })],
  ['typ of a logout token', async () => good({}, { typ: 'logout+jwt' })],
  ['typ of a proof of possession', async () => good({}, { typ: 'dpop+jwt' })],
  ['typ that is no text', async () => good({}, { typ: 1 })],
  ['nested in another token (cty)', async () => good({}, { cty: 'JWT' })],
  ['a token within a token', async () => signed(usualHeader(), await good())],
  [
    'an encrypted token',
    async () =>
      new CompactEncrypt(Buffer.from(JSON.stringify(claims())))
        .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM' })
        .encrypt(createPublicKey({ key: await exportJWK(encrypting.publicKey), format: 'jwk' } as never)),
  ],
  ['a changed payload', async () => changed(1, () => base64({ ...claims(), sub: 'root' }))],
  ['a changed header', async () => changed(0, () => base64({ ...usualHeader(), note: 'x' }))],
  ['a changed signature', async () => changed(2, (text) => `AAAA${text.slice(4)}`)],
  ['a signature whose last character spells the same bytes', async () => changed(2, withLast)],
  ['a signature that is cut', async () => changed(2, (text) => text.slice(0, -8))],
  ['no signature', async () => changed(2, () => '')],
  ['two parts', async () => (await good()).split('.').slice(0, 2).join('.')],
  ['four parts', async () => `${await good()}.AAAA`],
  ['padding', async () => `${await good()}==`],
  ['a header key twice', async () => signed('{"alg":"none","alg":"RS256","kid":"first"}', claims())],
  [
    'a claim twice',
    async () => signed(usualHeader(), JSON.stringify(claims()).replace('{', '{"sub":"root",')),
  ],
  [
    'a claim twice, once escaped',
    async () => signed(usualHeader(), JSON.stringify(claims()).replace('{', '{"s\\u0075b":"root",')),
  ],
  ['a payload that is a list', async () => signed(usualHeader(), JSON.stringify([claims()]))],
  ['a payload that is no JSON', async () => signed(usualHeader(), '{iss:1}')],
  [
    'a payload nested deep',
    async () =>
      signed(
        usualHeader(),
        JSON.stringify(claims()).replace('{', `{"deep":${'['.repeat(40)}${']'.repeat(40)},`),
      ),
  ],
];

const all: [string, Forge][] = FORGED.map(([title, forge]) => [title, forge]);

test('more than forty forged tokens are tried, and the token that they are made from is valid', async () => {
  expect(FORGED.length).toBeGreaterThan(40);
  for (const profile of ['a', 'b'] as const) {
    expect((await gateway.caller(profile, await good()).get('/sessions')).status).toBe(200);
    expect(
      (await gateway.caller(profile, await issuer.sign({}, { key: elliptic })).get('/sessions')).status,
    ).toBe(200);
  }
});

test.each(all)('Asymmetric algorithms only; refused: %s', async (_title, forge) => {
  const token = await forge();
  const calls = issuer.calls;
  const [a, b] = await Promise.all([
    gateway.caller('a', token).get<{ error: { code: string; message: string } }>('/sessions'),
    gateway
      .caller('b', token)
      .get<{ error: { code: string; message: string; details: unknown } }>('/sessions'),
  ]);
  expect([a.status, b.status]).toEqual([401, 401]);
  expect(a.headers.get('www-authenticate')).toBe('Bearer realm="agent-gateway", error="invalid_token"');
  expect(JSON.stringify(a.body)).toContain('unauthorized');
  expect(JSON.stringify(b.body)).toContain('unauthorized');
  expect(a.text + b.text).not.toContain('signature');
  // Discovery and keys, each at most once.
  expect(issuer.calls - calls).toBeLessThanOrEqual(2);
});

test('a huge token is refused before it is read', async () => {
  const token = await good({ groups: Array.from({ length: 3000 }, (_, n) => `group-${n}`) });
  const answers = await Promise.all([
    gateway.caller('a', token).get('/sessions'),
    gateway.caller('b', token).get('/sessions'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([431, 431]);
});
