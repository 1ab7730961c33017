import type { ProfileId } from '../../src/http/profiles/profile.js';
import type { Route } from '../../src/http/route-table.js';
import { SCOPES, type Scope } from '../../src/platform/tokens/scopes.js';
import { decidedScope } from '../architecture/specification-routes.js';
import { PROFILES } from '../contract/support/faces.js';
import { jsonRequest, request } from '../contract/support/raw-connection.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { expectRefusal, HostileGateway } from './support/hostile-gateway.js';
import { type Presentation, presentationsOf } from './support/presentations.js';

let hostile: HostileGateway;
let presentations: readonly Presentation[];
beforeAll(async () => {
  hostile = await HostileGateway.start();
  presentations = await presentationsOf(hostile.gateway);
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

describe.each(PROFILES)('5 | every route of Profile %s', (profile) => {
  test('whatever way a token is presented but the one that counts, it is 401 and nothing happens', async () => {
    await hostile.note();
    const requests = guarded(profile).flatMap((route) =>
      presentations.map(([headers, query]) => harmless(route, headers, query)),
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
