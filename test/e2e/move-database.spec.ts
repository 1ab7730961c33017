import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyDatabase } from '../../src/platform/database/database-copy.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { FaultProxy } from '../harness/fault-proxy.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';

const bench = new ProcessBench();
let target: TestDatabase;
let embedded: Record<string, string>;
beforeAll(async () => {
  target = await createTestDatabase();
  embedded = { GATEWAY_DATA_DIR: join(await bench.folder(), 'data') };
});
afterAll(async () => {
  await bench.clear();
  await target.drop();
});

const move = ['migrate', '--from', 'embedded'];

test('everything moves from the embedded database to an empty one, and goes on there', async () => {
  const before = await bench.serve({ env: embedded });
  const token = before.token ?? '';
  const a = new HttpCaller(before.a, token);
  const { body: made } = await new HttpCaller(before.b, token).post<{ id: string }>('/sessions', {
    user_id: 'ada',
    metadata: { ключ: ['\u{1F600}', 1.5, null], __proto__x: true },
  });
  const image = {
    type: 'file',
    name: 'a.txt',
    mime_type: 'text/plain',
    data: Buffer.from('hello').toString('base64'),
  };
  await a.post(`/sessions/${made.id}/messages`, {
    content: `Bonjour à tous\n/call memory_store {"content":"Ada préfère le thé 乌龙茶"}`,
    attachments: [image],
  });
  const hook = { url: 'http://127.0.0.1:4/hook', events: ['session.*'], secret: 'a secret of the receiver' };
  expect(await a.post('/hooks', hook)).toMatchObject({ status: 201 });
  expect(await new HttpCaller(before.b, token).patch('/config', { agent: { max_turns: 7 } })).toMatchObject({
    status: 200,
  });
  const shown = async (caller: HttpCaller) => ({
    sessions: (await caller.get('/sessions')).body,
    session: (await caller.get(`/sessions/${made.id}`)).body,
    messages: (await caller.get(`/sessions/${made.id}/messages`)).body,
    hooks: (await caller.get('/hooks')).body,
  });
  const wanted = await shown(a);
  expect(wanted).toMatchObject({
    sessions: { total: 1 },
    messages: { messages: [{}, {}] },
    hooks: { hooks: [{}] },
  });

  const tooEarly = await bench.run(move, { env: { ...embedded, DATABASE_URL: target.url } });
  expect(tooEarly).toMatchObject({ code: 1, stdout: '' });
  expect(tooEarly.stderr).toMatch(/A gateway still uses the embedded database/);
  before.kill('SIGTERM');
  await before.ended;

  const moved = await bench.run([...move, '--json'], { env: { ...embedded, DATABASE_URL: target.url } });
  expect(moved).toMatchObject({ code: 0 });
  const { tables } = JSON.parse(moved.stdout) as { tables: { table: string; rows: number }[] };
  expect(tables).toEqual(
    expect.arrayContaining([
      { table: 'messages', rows: 2 },
      { table: 'hooks', rows: 1 },
    ]),
  );

  const masterKey = (await readFile(join(embedded['GATEWAY_DATA_DIR'] ?? '', 'master.key'), 'utf8')).trim();
  const after = await bench.serve({ env: { DATABASE_URL: target.url, GATEWAY_MASTER_KEY: masterKey } });
  expect(after.token).toBeUndefined();
  const there = new HttpCaller(after.a, token);
  expect(await shown(there)).toEqual(wanted);
  expect(
    (await new HttpCaller(after.b, token).get<{ agent: { max_turns: number } }>('/config')).body.agent
      .max_turns,
  ).toBe(7);
  const more = await there.post<{ content: string }>(`/sessions/${made.id}/messages`, {
    content: '/call memory_recall {"query":"le thé"}\n/call memory_recall {"query":"乌龙"}',
  });
  expect(more.status).toBe(200);
  // Found by their words, and counted once.
  expect(more.body.content.match(/Ada préfère/g)).toHaveLength(2);
  expect((await new HttpCaller(after.b, token).get('/status')).body).toMatchObject({
    memory: { entries: 1 },
  });
  expect((await there.get<{ total: number }>('/sessions')).body.total).toBe(1);
  after.kill('SIGTERM');
  await after.ended;

  const again = await bench.run(move, { env: { ...embedded, DATABASE_URL: target.url } });
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toMatch(/is in use: its table api_tokens has rows/);
}, 90_000);

test.each(['from', 'to'] as const)(
  'a connection to the database that is copied %s which breaks between two statements is reported in one sentence',
  async (which) => {
    const databases = { from: await createTestDatabase(), to: await createTestDatabase() };
    const ways = {
      from: await FaultProxy.to(databases.from.directUrl),
      to: await FaultProxy.to(databases.to.directUrl),
    };
    // While the other database is slow to answer, this connection waits between two statements.
    ways[which === 'from' ? 'to' : 'from'].slow({ latencyMs: 200 });
    const copied = copyDatabase({ url: ways.from.url }, { url: ways.to.url }).catch(
      (error: unknown) => error,
    );
    const isIdle = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle%'`;
    await eventually(async () => expect(await databases[which].query(isIdle)).toHaveLength(1));
    ways[which].reset();
    expect(String(await copied)).toMatch(
      new RegExp(`^CopyBrokenOff: The connection to the database that is copied ${which} was lost \\(`),
    );
    for (const way of Object.values(ways)) await way.cut();
    for (const database of Object.values(databases)) await database.drop();
  },
);

test('without a database to copy to it says what is missing', async () => {
  const { code, stderr } = await bench.run(move, { env: embedded });
  expect(code).toBe(1);
  expect(stderr).toMatch(/set DATABASE_URL to an empty PostgreSQL database/);
});
