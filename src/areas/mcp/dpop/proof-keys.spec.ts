import { createHash } from 'node:crypto';
import { type CryptoKey, calculateJwkThumbprint, decodeJwt, EmbeddedJWK, exportJWK, jwtVerify } from 'jose';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { newProofKey, ProofKeys } from './proof-keys.js';

const server = (url = 'https://desk.test/mcp') => ({ url }) as McpServerSettings;
const LOGIN = 'https://login.test';
const keyOf = async (keys: ProofKeys, url?: string, issuer = LOGIN) => {
  const key = await keys.keyFor(server(url), 'auto', issuer, ['ES256']);
  if (key === undefined) throw new Error('There is no key.');
  return key;
};

test.each(['ES256', 'EdDSA', 'ES384', 'ES512'] as const)(
  'a proof of %s says what RFC 9449 wants',
  async (alg) => {
    const stored = await newProofKey(alg);
    const key = await new ProofKeys().restored(stored);
    const request = { htm: 'post', htu: 'https://desk.test/mcp?tenant=1#top', accessToken: 'token' };
    const [first, second] = await Promise.all([key.buildProof(request), key.buildProof(request)]);
    const { payload, protectedHeader } = await jwtVerify(first, EmbeddedJWK, { typ: 'dpop+jwt' });
    expect(payload).toEqual({
      ...{
        jti: expect.any(String) as string,
        iat: expect.any(Number) as number,
        htm: 'POST',
        htu: 'https://desk.test/mcp',
      },
      ath: createHash('sha256').update('token').digest('base64url'),
    });
    expect(protectedHeader.alg).toBe(alg);
    expect(protectedHeader.jwk).not.toHaveProperty('d');
    expect(decodeJwt(second).jti).not.toBe(payload.jti);
    expect(await calculateJwkThumbprint(protectedHeader.jwk ?? {})).toBe(key.thumbprint);
  },
);

test('a stored key is the same wherever it is restored, and those who restore it share its nonces', async () => {
  const stored = JSON.parse(JSON.stringify(await newProofKey('ES256'))) as Awaited<
    ReturnType<typeof newProofKey>
  >;
  const [keys, replica] = [new ProofKeys(), new ProofKeys()];
  const key = await keys.restored(stored);
  expect((await replica.restored(stored)).thumbprint).toBe(key.thumbprint);
  expect(await keys.restored(stored)).toBe(key);
});

test('a server has one key at an issuer, which nobody can read; others have others', async () => {
  const keys = new ProofKeys();
  const [key, same] = await Promise.all([keyOf(keys), keyOf(keys)]);
  expect(same).toBe(key);
  const others = [
    await keyOf(keys, 'https://crm.test/mcp'),
    await keyOf(keys, undefined, 'https://idp.test'),
  ];
  expect(new Set([key, ...others].map(({ thumbprint }) => thumbprint)).size).toBe(3);
  const { privateKey } = (key as unknown as { keyPair: { privateKey: CryptoKey } }).keyPair;
  await expect(exportJWK(privateKey)).rejects.toThrow('non-extractable');
});

test('past the bound the key that was used least recently is forgotten', async () => {
  const keys = new ProofKeys(2);
  const [first, second] = [await keyOf(keys, 'https://a.test'), await keyOf(keys, 'https://b.test')];
  expect(await keyOf(keys, 'https://a.test')).toBe(first);
  await keyOf(keys, 'https://c.test');
  expect(await keyOf(keys, 'https://a.test')).toBe(first);
  expect(await keyOf(keys, 'https://b.test')).not.toBe(second);
});

test('the last nonce of an origin goes to that origin alone, and what is no nonce nowhere', async () => {
  const key = await keyOf(new ProofKeys());
  const answer = (nonce: string) => new Response(null, { headers: { 'dpop-nonce': nonce } });
  for (const nonce of ['first', 'second', 'with a space', 'x'.repeat(1025), ''])
    key.observeNonce(answer(nonce), 'https://desk.test/mcp');
  const nonceFor = async (htu: string) => decodeJwt(await key.buildProof({ htm: 'GET', htu }))['nonce'];
  expect(await nonceFor('https://desk.test/other')).toBe('second');
  expect(await nonceFor(`${LOGIN}/token`)).toBeUndefined();
});

test('a key that cannot be made is not remembered', async () => {
  const keys = new ProofKeys();
  const stored = await newProofKey('ES256');
  const { d: _private, ...broken } = stored.jwk;
  await expect(keys.restored({ ...stored, jwk: { ...broken, d: 'x' } })).rejects.toThrow();
  expect((await keys.restored(stored)).thumbprint).toEqual(expect.any(String));
});
