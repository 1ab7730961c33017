import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type Answer } from '../harness/http-caller.js';
import { promptly } from '../harness/promptly.js';

/** docs/specification/silences.md, Tokens: a revoked token is refused by every replica within 1.5 s. */
const WITHIN_MS = 1500;

let database: TestDatabase;
/** Three, behind a transaction pooler where there is one: notifications do not pass through it. */
let replicas: TestGateway[];
beforeAll(async () => {
  database = await createTestDatabase();
  const url = database.pooledUrl ?? database.url;
  replicas = await Promise.all([1, 2, 3].map(() => startTestGateway({ database: { ...database, url } })));
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await database.drop();
});

/**
 * Asks until the response is as expected.
 * @returns when that was
 */
async function seenAt(ask: () => Promise<Answer>, isIt: (answer: Answer) => boolean): Promise<number> {
  const deadline = performance.now() + 10_000;
  while (!isIt(await ask())) {
    if (performance.now() > deadline) throw new Error('It is still not so after 10 s.');
  }
  return performance.now();
}

test('a revoked token is refused by all replicas within 1.5 s, and by each of them from then on', async () => {
  const token = await replicas[0]!.mint({ name: 'short-lived' });
  const callers = replicas.flatMap((replica) => [replica.caller('a', token), replica.caller('b', token)]);
  for (const caller of callers) expect((await caller.get('/sessions')).status).toBe(200);
  let revokedAt = Number.NaN;
  const refusedAt = await promptly(WITHIN_MS, async () => {
    await replicas[0]!.started.app.get(TokensService, { strict: false }).revoke('short-lived');
    revokedAt = performance.now();
    return Promise.all(
      callers.map((caller) =>
        seenAt(
          () => caller.get('/sessions'),
          ({ status }) => status === 401,
        ),
      ),
    );
  });
  const seconds = Math.round(Math.max(...refusedAt) - revokedAt) / 1000;
  figure(['revoked-tokens'], {
    refused_everywhere_after_s: seconds,
    replicas: replicas.length,
    notifications: database.pooledUrl === undefined ? 'possible' : 'blocked by a pooler',
  });
  for (const caller of callers) expect((await caller.get('/sessions')).status).toBe(401);
});

test('a changed setting is in force on all replicas within 1.5 s', async () => {
  await promptly(WITHIN_MS, async () => {
    expect((await replicas[1]!.b.patch('/config', { 'rate_limits.other': 777 })).status).toBe(200);
    await Promise.all(
      replicas.map((replica) =>
        seenAt(
          () => replica.a.get('/skills'),
          ({ headers }) => headers.get('x-ratelimit-limit') === '777',
        ),
      ),
    );
  });
});

test('a session made on one replica is answered on the others, one turn at a time', async () => {
  const { body } = await replicas[0]!.b.post<{ id: string }>('/sessions', {});
  const answers = await Promise.all(
    replicas.map((replica) => replica.a.post(`/sessions/${body.id}/messages`, { content: 'Hello' })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const history = await replicas[2]!.b.get<{ messages: { role: string }[] }>(`/sessions/${body.id}/messages`);
  const [user, assistant] = ['user', 'assistant'];
  expect(history.body.messages.map(({ role }) => role)).toEqual([
    user,
    assistant,
    user,
    assistant,
    user,
    assistant,
  ]);
});

/** Skipped where pgbouncer is not installed. */
const ifPooled = process.env['GATEWAY_TEST_SERVER']?.includes('"pooler"') === true ? test : test.skip;

ifPooled('behind a transaction pooler a replica says so', () => {
  for (const { logLines } of replicas)
    expect(logLines.filter((line) => line.includes('the database is behind a pooler'))).toHaveLength(1);
});
