import type { ProfileId } from '../../src/http/profiles/profile.js';
import type { Route } from '../../src/http/route-table.js';
import { PROFILES } from '../contract/support/faces.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { figure } from '../harness/figure.js';
import { attacked, type CorpusCase, corpusOf, type Harmless, isJsonRpc } from './support/hostile-corpus.js';
import { expectRefusalAt, HostileGateway } from './support/hostile-gateway.js';

/** What the corpus has to have at least, over every route of both profiles. */
const FEWEST_CASES = 10_000;

let hostile: HostileGateway;
let answered = 0;
beforeAll(async () => {
  hostile = await HostileGateway.start();
});
afterAll(() => hostile.stop());

/** What the faces of JSON-RPC ask for. */
const JSON_RPC = { Accept: 'application/json, text/event-stream', 'A2A-Version': '1.0' };

/** Reads look at what there is; everything else is asked of something that there is not. */
function harmless(route: Route): Harmless {
  const name = route.method === 'GET' ? undefined : 'sess_nothing';
  return {
    route,
    target: hostile.target(route, name),
    headers: { ...hostile.authorization, ...(isJsonRpc(route) && JSON_RPC) },
  };
}

/** Those of the profile, and on the port of Profile A those of every face that answers with JSON. */
function routes(profile: ProfileId): Route[] {
  const isFace = /^\/(admin\/v1|v1|mcp|a2a|\.well-known)(\/|$)/;
  const all = profile === 'a' ? hostile.everyRoute('a') : [];
  const faces = all.filter(({ path }) => isFace.test(path));
  return [...hostile.routes(profile), ...faces];
}

/** The audit holds who read it, and who signed in in vain. */
const isAudited = ({ path }: Route): boolean =>
  path === '/admin/v1/audit' || path === '/admin/v1/console/sign-in';

async function judge(profile: ProfileId, one: CorpusCase, without: number): Promise<void> {
  const answer = await hostile.send(profile, one.bytes);
  const expected = one.expected.map((status) => (status === 'as without' ? without : status));
  if (!expected.includes(answer.status))
    throw new Error(`${answer.status} instead of ${expected.join(' or ')}: ${answer.text.slice(0, 300)}`);
  // What stands beside a face is the profile's.
  const [, target = ''] = one.bytes.toString('latin1').split(' ', 2);
  // Errors of JSON-RPC are the protocol's own, and come as its library writes them.
  const isOwn = answer.headers.get('transfer-encoding') === 'chunked';
  if (answer.status >= 400 && !isOwn) expectRefusalAt(profile, target, answer);
  answered += 1;
}

/** Every case of a route, some at once; the failures in words. */
async function attack(profile: ProfileId, route: Route): Promise<string[]> {
  const without = (await hostile.send(profile, attacked(harmless(route)))).status;
  const failures: string[] = [];
  await severalAtOnce(corpusOf(harmless(route)), (one) =>
    judge(profile, one, without).catch((error: unknown) => failures.push(`${one.what}: ${String(error)}`)),
  );
  return failures;
}

/** Failures by route, so that one run shows them all. */
async function attackAll(profile: ProfileId, chosen: readonly Route[]): Promise<Record<string, string[]>> {
  const failures: Record<string, string[]> = {};
  for (const route of chosen) {
    const found = await attack(profile, route);
    if (found.length > 0) failures[`${route.method} ${route.path}`] = found;
  }
  return failures;
}

describe.each(PROFILES)('every route of Profile %s, and on the port of A of every face', (profile) => {
  test('answers the whole corpus within a second each: refused in its envelope, or as if the attack were not there', async () => {
    const chosen = routes(profile).filter((route) => !isAudited(route));
    expect(await attackAll(profile, chosen)).toEqual({});
    await hostile.expectUnharmed();
  }, 240_000);
});

test('so do the audit, which holds who read it, and the exchange of sign-in links, whose failures it holds', async () => {
  expect(await attackAll('a', routes('a').filter(isAudited))).toEqual({});
}, 60_000);

test(`the corpus has at least ${FEWEST_CASES} cases, and every one was answered`, () => {
  const attackedRoutes = PROFILES.flatMap((profile) => routes(profile));
  const cases = attackedRoutes.flatMap((route) => corpusOf(harmless(route))).length;
  figure(['bad-input'], { cases, answered, routes: attackedRoutes.length });
  expect(cases).toBeGreaterThanOrEqual(FEWEST_CASES);
  expect(answered).toBe(cases);
});
