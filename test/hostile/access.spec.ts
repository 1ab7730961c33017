import type { ProfileId } from '../../src/http/profiles/profile.js';
import type { Route } from '../../src/http/route-table.js';
import { SCOPES, type Scope } from '../../src/platform/tokens/scopes.js';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { decidedScope } from '../architecture/specification-routes.js';
import { PROFILES } from '../contract/support/faces.js';
import { jsonRequest, request } from '../contract/support/raw-connection.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { expectRefusal, HostileGateway } from './support/hostile-gateway.js';

let hostile: HostileGateway;
let wrongTokens: Readonly<Record<'expired' | 'unknown' | 'cut' | 'grown', string>>;
beforeAll(async () => {
  hostile = await HostileGateway.start();
  const { token } = hostile.gateway;
  wrongTokens = {
    expired: await hostile.gateway.mint({ expiresAt: new Date(Date.now() - 1000) }),
    unknown: mintToken(),
    cut: token.slice(0, -1),
    grown: `${token}a`,
  };
});
afterAll(() => hostile.stop());

/** A request that would be understood, but that can change nothing: nothing has this name, and the body is none. */
function harmless(route: Route, headers: Readonly<Record<string, string>>, query = ''): Buffer {
  const target = hostile.target(route, 'sess_nothing') + query;
  return route.takesBody
    ? jsonRequest(route.method, target, headers, '[]')
    : request(route.method, target, headers);
}

const guarded = (profile: ProfileId): Route[] =>
  hostile.routes(profile).filter(({ method, path }) => decidedScope(profile, method, path) !== 'open');

/** Every way to present a token that is not the one way, with a sound token or a wrong one. */
function presentations(): readonly (readonly [headers: Record<string, string>, query?: string])[] {
  const { token } = hostile.gateway;
  const { expired, unknown, cut, grown } = wrongTokens;
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

describe.each(PROFILES)('5 | every route of Profile %s', (profile) => {
  test('whatever way a token is presented but the one that counts, it is 401 and nothing happens', async () => {
    await hostile.note();
    const requests = guarded(profile).flatMap((route) =>
      presentations().map(([headers, query]) => harmless(route, headers, query)),
    );
    await severalAtOnce(requests, (bytes) => hostile.refuses(profile, bytes, 401));
    await hostile.expectUnharmed();
    expect(requests.length).toBeGreaterThan(600);
  }, 60_000);

  test('with one scope alone it is open where that scope is asked for, and 403 everywhere else', async () => {
    const granted = new Map<Scope, string>();
    for (const scope of SCOPES) granted.set(scope, await hostile.gateway.mint({ scopes: [scope] }));
    const pairs = guarded(profile).flatMap((route) =>
      [...granted].map(([scope, token]) => ({ route, scope, token })),
    );
    await severalAtOnce(pairs, async ({ route, scope, token }) => {
      const answer = await hostile.send(profile, harmless(route, { Authorization: `Bearer ${token}` }));
      const isLetIn = answer.status !== 401 && answer.status !== 403;
      const isItsOwn = scope === decidedScope(profile, route.method, route.path);
      expect([route.method, route.path, scope, isLetIn]).toEqual([route.method, route.path, scope, isItsOwn]);
      expect(answer.status).toBeLessThan(500);
      if (!isLetIn) expectRefusal(profile, answer);
    });
  }, 60_000);
});
