import type { ProfileId } from '../../src/http/profiles/profile.js';
import type { Route } from '../../src/http/route-table.js';
import { PROFILES } from '../contract/support/faces.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { figure } from '../harness/figure.js';
import { attacked, type CorpusCase, corpusOf, type Harmless } from './support/hostile-corpus.js';
import { expectRefusal, HostileGateway } from './support/hostile-gateway.js';

/** What the corpus has to have at least, over every route of both profiles. */
const FEWEST_CASES = 1500;

let hostile: HostileGateway;
let answered = 0;
beforeAll(async () => {
  hostile = await HostileGateway.start();
});
afterAll(() => hostile.stop());

/** Reads look at what there is; everything else is asked of something that there is not. */
function harmless(route: Route): Harmless {
  const name = route.method === 'GET' ? undefined : 'sess_nothing';
  return { route, target: hostile.target(route, name), headers: hostile.authorization };
}

async function judge(profile: ProfileId, one: CorpusCase, without: number): Promise<void> {
  const answer = await hostile.send(profile, one.bytes);
  const expected = one.expected.map((status) => (status === 'as without' ? without : status));
  if (!expected.includes(answer.status))
    throw new Error(`${answer.status} instead of ${expected.join(' or ')}: ${answer.text.slice(0, 300)}`);
  if (answer.status >= 400) expectRefusal(profile, answer);
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

describe.each(PROFILES)('every route of Profile %s', (profile) => {
  test('answers the whole corpus within a second each: refused in its envelope, or as if the attack were not there', async () => {
    for (const route of hostile.routes(profile))
      expect([route.method, route.path, await attack(profile, route)]).toEqual([
        route.method,
        route.path,
        [],
      ]);
    await hostile.expectUnharmed();
  }, 120_000);
});

test(`the corpus has at least ${FEWEST_CASES} cases, and every one was answered`, () => {
  const routes = PROFILES.flatMap((profile) => hostile.routes(profile));
  const cases = routes.flatMap((route) => corpusOf(harmless(route))).length;
  figure(['bad-input'], { cases, answered, routes: routes.length });
  expect(cases).toBeGreaterThanOrEqual(FEWEST_CASES);
  expect(answered).toBe(cases);
});
