import type { ProfileId } from '../../src/http/profiles/profile.js';
import type { Route } from '../../src/http/route-table.js';
import { PROFILES } from '../contract/support/faces.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { figure } from '../harness/figure.js';
import { attacked, type CorpusCase, corpusOf, type Harmless, isJsonRpc } from './support/hostile-corpus.js';
import { expectRefusalAt, HostileGateway } from './support/hostile-gateway.js';

/** The minimum size of the corpus, over every route of both profiles. */
const FEWEST_CASES = 10_000;

let hostile: HostileGateway;
let answered = 0;
beforeAll(async () => {
  hostile = await HostileGateway.start();
});
afterAll(() => hostile.stop());

/** Headers that the JSON-RPC faces require. */
const JSON_RPC = { Accept: 'application/json, text/event-stream', 'A2A-Version': '1.0' };

/** Reads refer to existing things, everything else to things that do not exist. */
function harmless(route: Route): Harmless {
  const name = route.method === 'GET' ? undefined : 'sess_nothing';
  return {
    route,
    target: hostile.target(route, name),
    headers: { ...hostile.authorization, ...(isJsonRpc(route) && JSON_RPC) },
  };
}

/** The profile's routes. On the port of Profile A also those of every face that answers with JSON. */
function routes(profile: ProfileId): Route[] {
  const isFace = /^\/(admin\/v1|v1|mcp|a2a|\.well-known)(\/|$)/;
  const all = profile === 'a' ? hostile.everyRoute('a') : [];
  const faces = all.filter(({ path }) => isFace.test(path));
  return [...hostile.routes(profile), ...faces];
}

/** The audit records who read it, and failed sign-ins. */
const isAudited = ({ path }: Route): boolean =>
  path === '/admin/v1/audit' || path === '/admin/v1/console/sign-in';

async function judge(profile: ProfileId, one: CorpusCase, without: number): Promise<void> {
  const answer = await hostile.send(profile, one.bytes);
  const expected = one.expected.map((status) => (status === 'as without' ? without : status));
  if (!expected.includes(answer.status))
    throw new Error(`${answer.status} instead of ${expected.join(' or ')}: ${answer.text.slice(0, 300)}`);
  // An unknown path beside a face belongs to the profile.
  const [, target = ''] = one.bytes.toString('latin1').split(' ', 2);
  // Errors of JSON-RPC have the protocol's own form, and are written by its library.
  const isOwn = answer.headers.get('transfer-encoding') === 'chunked';
  if (answer.status >= 400 && !isOwn) expectRefusalAt(profile, target, answer);
  answered += 1;
}

/** Sends every case of a route, several at once. Returns the failures. */
async function attack(profile: ProfileId, route: Route): Promise<string[]> {
  const without = (await hostile.send(profile, attacked(harmless(route)))).status;
  const failures: string[] = [];
  await severalAtOnce(corpusOf(harmless(route)), (one) =>
    judge(profile, one, without).catch((error: unknown) => failures.push(`${one.what}: ${String(error)}`)),
  );
  return failures;
}

/** Failures by route, so that one run shows all of them. */
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
  }, 480_000);
});

test('so do the audit, which holds who read it, and the exchange of sign-in links, whose failures it holds', async () => {
  expect(await attackAll('a', routes('a').filter(isAudited))).toEqual({});
}, 120_000);

test(`the corpus has at least ${FEWEST_CASES} cases, and every one was answered`, () => {
  const attackedRoutes = PROFILES.flatMap((profile) => routes(profile));
  const cases = attackedRoutes.flatMap((route) => corpusOf(harmless(route))).length;
  figure(['bad-input'], { cases, answered, routes: attackedRoutes.length });
  expect(cases).toBeGreaterThanOrEqual(FEWEST_CASES);
  expect(answered).toBe(cases);
});
