import type { ProfileId } from '../../src/http/profiles/profile.js';
import type { Route } from '../../src/http/route-table.js';
import { SCOPES, type Scope } from '../../src/platform/tokens/scopes.js';
import { decidedScope } from '../architecture/specification-routes.js';
import { PROFILES } from '../contract/support/faces.js';
import { jsonRequest, type RawAnswer, request } from '../contract/support/raw-connection.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { AUDIENCE, configEnv, removeConfigs, TestIssuer } from '../harness/identity.js';
import { expectRefusalAt, HostileGateway } from './support/hostile-gateway.js';
import { jwtPresentations } from './support/jwt-presentations.js';
import { type Presentation, presentationsOf } from './support/presentations.js';

jest.setTimeout(240_000);

/** The minimum number of guarded routes of each face on each profile's port. */
const FEWEST = { '/api/v1/': 22, '/admin/v1/': 30, '/v1/': 8, '/mcp': 2, '/a2a': 1 } as const;

let issuer: TestIssuer;
let hostile: HostileGateway;
/** Invalid ways to present API tokens and JSON Web Tokens. */
let presentations: readonly Presentation[];
beforeAll(async () => {
  issuer = await TestIssuer.open();
  const roles = SCOPES.map((scope) => `"only ${scope}" = { scopes = ["${scope}"] }`);
  hostile = await HostileGateway.start(
    await configEnv(`
[auth.jwt.corp]
issuer = "${issuer.url}"
audience = "${AUDIENCE}"
[auth.jwt.corp.roles]
"platform" = { preset = "admin" }
"bound" = { preset = "admin", bound = true }
"nothing" = { scopes = [] }
${roles.join('\n')}
`),
  );
  presentations = [
    ...(await presentationsOf(hostile.gateway)),
    ...(await jwtPresentations(issuer, { groups: ['platform'] })),
  ];
});
afterAll(async () => {
  await hostile.stop();
  await issuer.close();
  await removeConfigs();
});

/** A request that is understood but changes nothing: its name does not exist, and its body is not valid. */
function harmless(route: Route, headers: Readonly<Record<string, string>>, query = ''): Buffer {
  const target = hostile.target(route, 'sess_nothing') + query;
  return route.takesBody
    ? jsonRequest(route.method, target, headers, '[]')
    : request(route.method, target, headers);
}

/**
 * The scopes of operators' routes and other faces are decided in `architecture/routes`, `openai-face` and
 * `agent-faces`.
 */
const scopeOf = (profile: ProfileId, { method, path, access }: Route) =>
  path.startsWith('/api/v1/') ? decidedScope(profile, method, path) : access.scope;
const guarded = (profile: ProfileId): Route[] =>
  hostile.everyRoute(profile).filter((route) => scopeOf(profile, route) !== 'open');
const signed = (...groups: string[]): Promise<string> => issuer.sign({ groups });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const isLetIn = ({ status }: RawAnswer): boolean => status !== 401 && status !== 403;

/**
 * With each of these credentials, which have one scope each, exactly the routes that require this scope admit the
 * caller.
 */
async function expectOwnOnly(profile: ProfileId, granted: ReadonlyMap<Scope, string>): Promise<void> {
  const pairs = guarded(profile).flatMap((route) =>
    [...granted].map(([scope, token]) => ({ route, scope, token })),
  );
  await severalAtOnce(pairs, async ({ route, scope, token }) => {
    const answer = await hostile.send(profile, harmless(route, bearer(token)));
    const asked = scopeOf(profile, route);
    const what = [route.method, route.path, scope];
    // Routes for any token need no scope.
    expect([...what, isLetIn(answer)]).toEqual([...what, asked === null || scope === asked]);
    expect([...what, answer.status < 500]).toEqual([...what, true]);
    if (!isLetIn(answer)) expectRefusalAt(profile, route.path, answer);
  });
}

describe.each(PROFILES)('5 | every route on the port of Profile %s, of all faces', (profile) => {
  test('has its place here: none is left out', () => {
    const found = Object.keys(FEWEST).map((prefix) => [
      prefix,
      guarded(profile).filter(({ path }) => path.startsWith(prefix)).length,
    ]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(
        found.map(([prefix, count]) => [
          prefix,
          Math.max(Number(count), FEWEST[prefix as keyof typeof FEWEST]),
        ]),
      ),
    );
  });

  test('whatever way a token is presented but the one that counts, it is 401 and nothing happens', async () => {
    await hostile.note();
    const requests = guarded(profile).flatMap((route) =>
      presentations.map(([headers, query]) => ({ route, bytes: harmless(route, headers, query) })),
    );
    await severalAtOnce(requests, async ({ route, bytes }) => {
      const answer = await hostile.send(profile, bytes);
      const sent = bytes.toString('latin1').slice(0, 300).replace(hostile.gateway.token, '…');
      expect([sent, answer.status]).toEqual([sent, 401]);
      expectRefusalAt(profile, route.path, answer);
    });
    await hostile.expectUnharmed();
    expect(presentations.length).toBeGreaterThan(60);
    expect(requests.length).toBeGreaterThan(3900);
  });

  test('with one scope alone it is open where that scope is asked for, and 403 everywhere else', async () => {
    const granted = new Map<Scope, string>();
    for (const scope of SCOPES) granted.set(scope, await hostile.gateway.mint({ scopes: [scope] }));
    await expectOwnOnly(profile, granted);
  });

  test('so it is with a JSON Web Token whose role has one scope', async () => {
    const granted = new Map<Scope, string>();
    for (const scope of SCOPES) granted.set(scope, await signed(`only ${scope}`));
    await expectOwnOnly(profile, granted);
  });

  test('a valid JSON Web Token without a role is 403 everywhere; one whose role has no scope is 403 where a scope is asked for', async () => {
    const [none, nothing] = [await signed(), await signed('nothing')];
    await severalAtOnce(guarded(profile), async (route) => {
      const what = [route.method, route.path];
      const answers = [
        await hostile.send(profile, harmless(route, bearer(none))),
        await hostile.send(profile, harmless(route, bearer(nothing))),
      ];
      expect([...what, ...answers.map(isLetIn)]).toEqual([...what, false, scopeOf(profile, route) === null]);
      for (const answer of answers.filter((one) => !isLetIn(one)))
        expectRefusalAt(profile, route.path, answer);
    });
  });

  test('a bound one, whatever its role may, is 403 where operators see what is not its own', async () => {
    const bound = await signed('bound');
    const operators = guarded(profile).filter(({ path }) => path.startsWith('/admin/v1/'));
    await severalAtOnce(operators, async (route) => {
      const answer = await hostile.send(profile, harmless(route, bearer(bound)));
      const what = [route.method, route.path];
      expect([...what, isLetIn(answer)]).toEqual([...what, route.access.boundCallers === 'own']);
    });
  });
});
