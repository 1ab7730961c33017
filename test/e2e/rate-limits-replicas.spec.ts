import { setTimeout as sleep } from 'node:timers/promises';
import { RateBucketRetention } from '../../src/platform/rate-limits/rate-bucket-retention.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

/** The specification's tiers, with a request of each. */
const TIERS = [
  { tier: 'sessions_write', limit: 10, method: 'DELETE', path: '/sessions/sess_x' },
  { tier: 'sessions_read', limit: 50, method: 'GET', path: '/sessions/sess_x' },
  { tier: 'config_write', limit: 5, method: 'PATCH', path: '/config' },
  { tier: 'other', limit: 30, method: 'GET', path: '/nowhere' },
] as const;
const SECONDS = 5;

let database: TestDatabase;
let replicas: TestGateway[];
beforeAll(async () => {
  database = await createTestDatabase();
  const env = Object.fromEntries(
    TIERS.map(({ tier, limit }) => [`GATEWAY__RATE_LIMITS__${tier.toUpperCase()}`, String(limit)]),
  );
  replicas = await Promise.all([1, 2, 3].map(() => startTestGateway({ database, env })));
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await database.drop();
});

/** One request, in milliseconds of this process: the bucket was asked in between. */
interface Sent {
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly replica: number;
  readonly isRefused: boolean;
}

async function databaseSeconds(): Promise<number> {
  const [row] = await database.query<{ at: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 AS at',
  );
  return row!.at;
}

interface Flood {
  readonly sent: readonly Sent[];
  /** How long all of it took, by the clock that refills the buckets. */
  readonly seconds: number;
}

/**
 * Sends at twice the limit, to the replicas in turn, at the moments that belong to that pace; then, at once, to each replica
 * twice what a bucket holds, because a busy machine may not keep that pace.
 */
async function flood({ limit, method, path }: (typeof TIERS)[number], token: string): Promise<Flood> {
  const callers = replicas.map((replica) => replica.caller('b', token));
  // So that every replica knows the token; this is of another tier.
  for (const caller of callers) await caller.get(path === '/nowhere' ? '/sessions' : '/nowhere');
  const began = await databaseSeconds();
  const startedAt = performance.now();
  const paced = limit * 2 * SECONDS;
  const sent = await Promise.all(
    Array.from({ length: paced + limit * 2 * callers.length }, async (_, i) => {
      await sleep(startedAt + (Math.min(i, paced) * 1000) / (limit * 2) - performance.now());
      const sentAt = performance.now();
      const replica = i % callers.length;
      const { status } = await callers[replica]!.send(method, path, method === 'PATCH' ? { body: {} } : {});
      return { sentAt, answeredAt: performance.now(), replica, isRefused: status === 429 };
    }),
  );
  return { sent, seconds: (await databaseSeconds()) - began };
}

/** What may be missing of a second on another clock. */
const CLOCKS_DIFFER = 0.01;

/**
 * Whether the bucket can have been empty: since some moment, as much was let in as it holds and as came back meanwhile. What
 * was let in about then or about now is counted, and requests are whole.
 */
function wasEmpty({ sentAt: now, answeredAt }: Sent, letIn: readonly Sent[], limit: number): boolean {
  const before = letIn.filter(({ sentAt }) => sentAt <= answeredAt);
  return before.some(({ sentAt: since }) => {
    const cameBack = ((limit * Math.max(0, now - since)) / 1000) * (1 - CLOCKS_DIFFER);
    return before.filter((other) => other.answeredAt >= since).length > limit + cameBack - 1;
  });
}

/** Somebody else, at an easy pace. @returns the statuses of the answers */
async function sendModestly(tier: (typeof TIERS)[number], token: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < SECONDS * 2; i++) {
    await sleep(400);
    const caller = replicas[i % 3]!.caller('a', token);
    statuses.push((await caller.send(tier.limit === 5 ? 'POST' : tier.method, pathInA(tier))).status);
  }
  return statuses;
}

test('one token at twice each tier over three replicas: the limit and one burst; another is untouched', async () => {
  await Promise.all(
    TIERS.map(async (tier) => {
      const [greedy, modest] = [await replicas[0]!.mint(), await replicas[0]!.mint()];
      const [{ sent, seconds }, others] = await Promise.all([
        flood(tier, greedy),
        sendModestly(tier, modest),
      ]);
      expect(others).not.toContain(429);
      const letIn = sent.filter(({ isRefused }) => !isRefused);
      const refused = sent.filter(({ isRefused }) => isRefused);
      expect(new Set(refused.map(({ replica }) => replica)).size).toBe(replicas.length);
      const most = tier.limit * seconds + tier.limit;
      figure(['rate-limit'], { tier: tier.tier, accepted: letIn.length, most: Math.floor(most) });
      expect(letIn.length).toBeLessThanOrEqual(most);
      for (const one of refused) expect([one, wasEmpty(one, letIn, tier.limit)]).toEqual([one, true]);
    }),
  );
});

function pathInA({ tier, path }: (typeof TIERS)[number]): string {
  return tier === 'config_write' ? '/config/reload' : path;
}

test('a burst over all replicas at once is the limit, to the request', async () => {
  const token = await replicas[0]!.mint();
  const startedAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => replicas[i % 3]!.caller('b', token).delete('/sessions/sess_x')),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const accepted = answers.filter(({ status }) => status === 404);
  // Ten of the burst, and what came back while sixty requests were on their way.
  expect(accepted.length).toBeGreaterThanOrEqual(10);
  expect(accepted.length).toBeLessThanOrEqual(10 + 10 * seconds);
  const remaining = accepted.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
  expect(Math.max(...remaining)).toBe(9);
  for (const { status, headers } of answers) {
    expect(headers.get('x-ratelimit-limit')).toBe('10');
    if (status === 429)
      expect([headers.get('retry-after'), headers.get('x-ratelimit-remaining')]).toEqual(['1', '0']);
  }
});

test('a database whose clock was set back locks no one out', async () => {
  const token = await replicas[0]!.mint();
  await replicas[0]!.caller('b', token).get('/nowhere');
  await database.query(`UPDATE rate_buckets SET full_at_ms = full_at_ms + 3600000`);
  await sleep(1000);
  expect((await replicas[1]!.caller('b', token).get('/nowhere')).status).toBe(429);
  await sleep(1000);
  expect((await replicas[1]!.caller('b', token).get('/nowhere')).status).toBe(404);
});

test('buckets that are no longer used are removed, those in use are not', async () => {
  const token = await replicas[0]!.mint();
  await replicas[0]!.caller('b', token).get('/nowhere');
  await database.query(`UPDATE rate_buckets SET full_at_ms = extract(epoch FROM now()) * 1000 - 20000`);
  await replicas[1]!.caller('b', token).get('/sessions');
  await replicas[1]!.started.app.get(RateBucketRetention, { strict: false }).job.runAll();
  const left = await database.query<{ key: string }>('SELECT key FROM rate_buckets');
  expect(left.map(({ key }) => key.replace(/^token:\w+/, 'token'))).toEqual(['token|sessions_read']);
});
