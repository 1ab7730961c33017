import fc from 'fast-check';
import type { ProfileId } from '../../src/http/profiles/profile.js';
import { expectError } from '../contract/support/envelope.js';
import { PROFILES } from '../contract/support/faces.js';
import { jsonRequest, request } from '../contract/support/raw-connection.js';
import { HostileGateway } from './support/hostile-gateway.js';

/** `HOSTILE_RUNS=5000` for a long run. A failure prints its seed, and `HOSTILE_SEED` repeats it. */
const RUNS = Number(process.env['HOSTILE_RUNS'] ?? 250);
const SEED = process.env['HOSTILE_SEED'];
const FIELDS = [
  'content',
  'attachments',
  'channel',
  'user_id',
  'metadata',
  'model',
  'url',
  'events',
  'secret',
  'active',
];

let hostile: HostileGateway;
beforeAll(async () => {
  hostile = await HostileGateway.start();
});
afterAll(() => hostile.stop());

const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '..',
    '%00',
    '%2e%2e%2f',
    "' OR 1=1 --",
    '$' + '{jndi:ldap://x}',
    '__proto__',
    'null',
    '-1',
    '9'.repeat(30),
  ),
);
const query = fc.array(
  fc.tuple(
    fc.oneof(
      fc.constantFrom('limit', 'offset', 'status', 'channel', 'before', 'level', 'since', 'component'),
      word,
    ),
    word,
  ),
  { maxLength: 4 },
);
/** The right fields with values of any kind, any JSON, or bytes that are not JSON. */
const body = fc.oneof(
  fc
    .dictionary(fc.oneof(fc.constantFrom(...FIELDS), word), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 })
    .map((value) => JSON.stringify(value)),
  fc.json(),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);
const headers = fc.dictionary(
  fc.constantFrom(
    'Accept',
    'Prefer',
    'Idempotency-Key',
    'X-Request-Id',
    'Last-Event-ID',
    'If-Match',
    'Range',
    'traceparent',
    'X-Forwarded-For',
  ),
  fc.string({
    unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
    maxLength: 60,
  }),
  { maxKeys: 3 },
);

function bytesOf(
  profile: ProfileId,
  wish: {
    route: number;
    name: string;
    pairs: [string, string][];
    sent: string | Buffer;
    more: Record<string, string>;
  },
): Buffer {
  const routes = hostile.routes(profile);
  const route = routes[wish.route % routes.length];
  if (route === undefined) throw new Error('There is no route.');
  const text = new URLSearchParams(wish.pairs).toString();
  const target =
    hostile.target(route, encodeURIComponent(wish.name.toWellFormed())) + (text === '' ? '' : `?${text}`);
  const head = { ...wish.more, ...hostile.authorization };
  return route.takesBody
    ? jsonRequest(route.method, target, head, wish.sent)
    : request(route.method, target, head);
}

test.each(PROFILES)(
  'generated requests to every route of Profile %s: no 5xx, the envelope, and the gateway goes on',
  async (profile) => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ route: fc.nat(10_000), name: word, pairs: query, sent: body, more: headers }),
        async (wish) => {
          const answer = await hostile.send(profile, bytesOf(profile, wish));
          expect(answer.status).toBeLessThan(500);
          if (answer.status >= 400) expectError(profile, answer, answer.status, expect.any(String) as never);
        },
      ),
      { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
    );
    expect(hostile.gateway.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect((await hostile.gateway[profile].get('/sessions')).status).toBe(200);
  },
  120_000,
);
