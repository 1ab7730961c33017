import { mintToken } from '../../../src/platform/tokens/token-format.js';
import type { TestGateway } from '../../harness/gateway.js';

/** Headers and a query that present a token. */
export type Presentation = readonly [headers: Record<string, string>, query?: string];

/** Every wrong way to present a token, with a valid token or an invalid one. */
export async function presentationsOf(gateway: TestGateway): Promise<readonly Presentation[]> {
  const { token } = gateway;
  const expired = await gateway.mint({ expiresAt: new Date(Date.now() - 1000) });
  const [unknown, cut, grown] = [mintToken(), token.slice(0, -1), `${token}a`];
  return [
    [{}],
    [{ Authorization: '' }],
    [{ Authorization: 'Bearer' }],
    [{ Authorization: 'Bearer ' }],
    [{ Authorization: token }],
    [{ Authorization: `Basic ${token}` }],
    [{ Authorization: `Basic ${Buffer.from(`gateway:${token}`).toString('base64')}` }],
    [{ Authorization: `Token ${token}` }],
    [{ Authorization: `Bearer${token}` }],
    [{ Authorization: `Bearer\t${token}` }],
    [{ Authorization: `Bearer "${token}"` }],
    [{ Authorization: `Bearer ${token}, Bearer ${token}` }],
    [{ Authorization: `Bearer ${token} ${token}` }],
    [{ Authorization: `Bearer ${token.toUpperCase()}` }],
    [{ Authorization: `Bearer ${expired}` }],
    [{ Authorization: `Bearer ${unknown}` }],
    [{ Authorization: `Bearer ${cut}` }],
    [{ Authorization: `Bearer ${grown}` }],
    [{ Authorization: 'Bearer null' }],
    [{ Authorization: `Bearer ${'a'.repeat(4000)}` }],
    [{ Authorization: 'Bearer agw_\u00e4\u00f6\u00fc' }],
    [{ Authorization: `Bearer ' OR '1'='1` }],
    [{ 'Proxy-Authorization': `Bearer ${token}` }],
    [{ 'X-Api-Key': token }],
    [{ 'X-Forwarded-Authorization': `Bearer ${token}` }],
    [{ 'X-Forwarded-User': 'admin', 'X-Original-URL': '/api/v1/health' }],
    [{ Cookie: `token=${token}; Authorization=Bearer ${token}` }],
    [{ 'Sec-WebSocket-Protocol': `gateway.v1, bearer.${token}` }],
    [{}, `?token=${token}`],
    [{}, `?access_token=${token}`],
    [{}, `?authorization=Bearer%20${token}`],
  ];
}
