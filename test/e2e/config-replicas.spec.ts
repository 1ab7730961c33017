import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

jest.setTimeout(300_000);

/** The promise: every replica applies a change within this time. */
const EVERYWHERE_MS = 1500;

interface Shown {
  readonly agent: { readonly max_waiting: number };
  readonly memory: { readonly top_k: number };
}

const shown = async ({ b }: TestGateway): Promise<Shown> => (await b.get<Shown>('/config')).body;
const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

let database: TestDatabase;
let replicas: TestGateway[];
beforeAll(async () => {
  database = await createTestDatabase();
  // Each replica has few database connections, and on a busy machine one is free late.
  const env = { GATEWAY__DATABASE__CONNECT_TIMEOUT_MS: '60000' };
  replicas = await Promise.all(range(3).map(() => startTestGateway({ database, env })));
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await database.drop();
});

const replica = (index: number): TestGateway => replicas[index % replicas.length] as TestGateway;
const patch = (index: number, body: object, headers = {}) => replica(index).b.patch('/config', body, headers);

test('what one of them is told, all have within 1.5 s, secrets included', async () => {
  expect(
    (
      await patch(0, {
        'memory.top_k': 11,
        'provider.kind': 'openai',
        'provider.api_key': 'canary-of-three',
      })
    ).status,
  ).toBe(200);
  await eventually(async () => {
    for (const one of replicas) expect((await shown(one)).memory.top_k).toBe(11);
    for (const one of replicas)
      expect((await one.b.get('/status')).body).toMatchObject({ provider: { name: 'openai' } });
  }, EVERYWHERE_MS);
  const tags = await Promise.all(
    replicas.map(async (one) => (await one.b.get('/config')).headers.get('etag')),
  );
  expect(new Set(tags).size).toBe(1);
  await patch(1, { provider: null, memory: null });
});

test('a tag that was read from one of them is compared with what is stored, not with what another has seen so far', async () => {
  const first = await patch(0, { 'agent.max_turns': 41 });
  const etag = first.headers.get('etag') ?? '';
  expect((await patch(1, { 'agent.max_turns': 42 }, { 'if-match': etag })).status).toBe(200);
  expect((await patch(2, { 'agent.max_turns': 43 }, { 'if-match': etag })).status).toBe(409);
});

test('changes made everywhere at once all count, and no reader ever sees half of one', async () => {
  await patch(0, { 'memory.top_k': 9, 'agent.max_waiting': 9 });
  await eventually(async () => {
    for (const one of replicas) expect((await shown(one)).memory.top_k).toBe(9);
  }, EVERYWHERE_MS);
  const stop = new AbortController();
  let torn = 0;
  let reads = 0;
  const readers = replicas.map(async (one) => {
    while (!stop.signal.aborted) {
      const { agent, memory } = await shown(one);
      reads += 1;
      if (agent.max_waiting !== memory.top_k) torn += 1;
    }
  });
  const statuses = await Promise.all(
    range(30).map(async (index) => {
      const value = 10 + index;
      return (await patch(index, { 'memory.top_k': value, 'agent.max_waiting': value })).status;
    }),
  );
  stop.abort();
  await Promise.all(readers);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(reads).toBeGreaterThan(30);
  expect(torn).toBe(0);
  await eventually(async () => {
    const all = await Promise.all(replicas.map(shown));
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(1);
  }, EVERYWHERE_MS);
  const [{ changes }] = (await database.query<{ changes: string }>(
    `SELECT count(*) AS changes FROM config_changes WHERE edits @> '[{"key": "agent.max_waiting"}]'`,
  )) as [{ changes: string }];
  expect(Number(changes)).toBe(31);
});

test('under load, 0 requests fail while 200 changes are applied', async () => {
  const stop = new AbortController();
  const failures: string[] = [];
  let requests = 0;
  const clients = range(6).map(async (number) => {
    while (!stop.signal.aborted) {
      const { a, b } = replica(number);
      const made = await a.post<{ session_id: string }>('/sessions', {});
      const said = await a.post(`/sessions/${made.body.session_id}/messages`, { content: 'Hello' });
      const read = await b.get(`/sessions/${made.body.session_id}`);
      requests += 3;
      for (const { status, text } of [made, said, read])
        if (status >= 300) failures.push(`${status} ${text}`);
    }
  });
  const change = async (index: number): Promise<void> => {
    const body = {
      'agent.max_turns': 10 + index,
      'agent.system_prompt': `Be brief ${index}.`,
      'provider.max_retries': index % 5,
      'rate_limits.other': 90_000 + index,
      'logging.level': index % 2 === 0 ? 'info' : 'debug',
    };
    const { status, text } = await patch(index, body);
    if (status !== 200) failures.push(`PATCH ${status} ${text}`);
  };
  // Each replica gets its share of the changes, one after the other.
  const told = replicas.map(async (_, share) => {
    for (let index = share; index < 200; index += replicas.length) await change(index);
  });
  await Promise.all(told);
  stop.abort();
  await Promise.all(clients);
  expect(failures).toEqual([]);
  expect(requests).toBeGreaterThan(100);
});
