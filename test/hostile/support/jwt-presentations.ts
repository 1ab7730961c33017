import { createHmac } from 'node:crypto';
import { exportSPKI } from 'jose';
import { signingKey, type TestIssuer } from '../../harness/identity.js';
import type { Presentation } from './presentations.js';

/** Wrong ways to present a valid JSON Web Token, and the right way with tokens that must not be accepted. */
export async function jwtPresentations(
  issuer: TestIssuer,
  claims: Readonly<Record<string, unknown>>,
): Promise<readonly Presentation[]> {
  const now = Math.floor(Date.now() / 1000);
  const sign = (other: Record<string, unknown> = {}, header = {}) =>
    issuer.sign({ ...claims, ...other }, { header });
  const good = await sign();
  const [head = '', payload = '', signature = ''] = good.split('.');
  const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const hmacHead = base64({ alg: 'HS256', kid: issuer.key.kid, typ: 'JWT' });
  const pem = await exportSPKI(issuer.key.publicKey);
  const hmac = createHmac('sha256', pem).update(`${hmacHead}.${payload}`).digest('base64url');
  const bearer = (token: string): Presentation => [{ Authorization: `Bearer ${token}` }];
  return [
    [{ Authorization: good }],
    [{ Authorization: `Basic ${good}` }],
    [{ Authorization: `JWT ${good}` }],
    [{ Authorization: `DPoP ${good}` }],
    [{ Authorization: `Bearer "${good}"` }],
    [{ Authorization: `Bearer ${good}, Bearer ${good}` }],
    [{ 'X-Api-Key': good }],
    [{ 'Proxy-Authorization': `Bearer ${good}` }],
    [{ 'X-Forwarded-Authorization': `Bearer ${good}` }],
    [{ 'X-Forwarded-Access-Token': good, 'X-Forwarded-User': 'ada' }],
    [{ Cookie: `access_token=${good}; id_token=${good}` }],
    [{ 'Sec-WebSocket-Protocol': `gateway.v1, bearer.${good}` }],
    [{}, `?access_token=${good}`],
    [{}, `?id_token=${good}`],
    bearer(await sign({ iat: now - 400, exp: now - 61 })),
    bearer(await sign({ nbf: now + 300 })),
    bearer(await sign({ iat: now - 90_000 })),
    bearer(await sign({ exp: undefined })),
    bearer(await sign({ aud: 'another-service' })),
    bearer(await sign({ aud: undefined })),
    bearer(await sign({ iss: 'https://login.elsewhere.test/' })),
    bearer(await sign({ sub: undefined })),
    bearer(await sign({}, { typ: 'logout+jwt' })),
    bearer(await issuer.sign(claims, { key: await signingKey(issuer.key.kid) })),
    bearer(`${base64({ alg: 'none' })}.${payload}.`),
    bearer(`${hmacHead}.${payload}.${hmac}`),
    bearer(`${head}.${base64({ ...claims, sub: 'root' })}.${signature}`),
    bearer(`${head}.${payload}`),
    bearer(`${good}.${signature}`),
    bearer(good.slice(0, -9)),
  ];
}
