import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, newSession, providerEnv } from '../harness/turn-stream.js';

// Starts take long on a busy machine.
jest.setTimeout(120_000);

interface Item {
  message_id: string;
  role: string;
  content: string;
  incomplete?: string;
}

const bench = new ProcessBench();
let database: TestDatabase;
let provider: ScriptedProvider;
let standing: TestGateway;
/** One for each kill. */
let victims: GatewayProcess[];

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await startScriptedProvider();
  [standing, ...victims] = await Promise.all([
    startTestGateway({ database, env: providerEnv(provider) }),
    startVictim(),
    startVictim(),
  ]);
});
afterAll(async () => {
  await bench.clear();
  await standing.stop();
  await provider.stop();
  await database.drop();
});

const ASYNC = { prefer: 'respond-async' };

function startVictim(): Promise<GatewayProcess> {
  return bench.serve({
    env: {
      ...providerEnv(provider),
      DATABASE_URL: database.url,
      GATEWAY_MASTER_KEY: 'a master key that only tests may use',
    },
  });
}

function victimCaller(): { victim: GatewayProcess; caller: HttpCaller } {
  const victim = victims.pop();
  if (victim === undefined) throw new Error('No victim is left.');
  return { victim, caller: new HttpCaller(victim.a, standing.token) };
}

async function accept(caller: HttpCaller, id: string, content: string, headers = {}): Promise<string> {
  const { status, body, text } = await caller.post<{ message_id: string }>(
    `/sessions/${id}/messages`,
    { content },
    { ...ASYNC, ...headers },
  );
  expect([status, text]).toEqual([202, text]);
  return body.message_id;
}

async function history(id: string): Promise<Item[]> {
  return (await standing.a.get<{ messages: Item[] }>(`/sessions/${id}/messages`)).body.messages;
}

/** Holds back the first answer; every other answer repeats the question. */
function holdFirst() {
  const held = heldAnswer();
  provider.script(held.script, (response, { body }) => {
    const asked = (body['messages'] as { content: unknown }[]).at(-1)?.content;
    const answer = heldAnswer();
    answer.say(`You said ${JSON.stringify(asked)}`);
    void answer.script(response, { path: '', headers: {}, body, text: '' });
    answer.finish();
  });
  return held;
}

const told = (items: Item[]) => items.map(({ role, content }) => `${role[0] ?? ''}: ${content}`);

test('kill -9 of the replica that accepted messages for a busy session: another one answers them, in order and once', async () => {
  const held = holdFirst();
  held.say('First');
  const { victim, caller } = victimCaller();
  const id = await newSession(standing);
  const running = standing.a.post(`/sessions/${id}/messages`, { content: 'Begin' });
  await eventually(() => expect(provider.requests).toHaveLength(1));
  const ids: string[] = [];
  for (const n of [1, 2, 3, 4])
    ids.push(await accept(caller, id, `Number ${n}`, { 'idempotency-key': `accepted-${n}` }));
  const data = Buffer.from('attached bytes').toString('base64');
  const attached = await caller.post<{ message_id: string }>(
    `/sessions/${id}/messages`,
    { content: 'Number 5', attachments: [{ type: 'file', name: 'a.txt', mime_type: 'text/plain', data }] },
    ASYNC,
  );
  expect(attached.status).toBe(202);
  ids.push(attached.body.message_id);
  expect(await history(id)).toHaveLength(1);
  victim.kill('SIGKILL');
  await victim.ended;
  const again = await standing.a.post<{ message_id: string }>(
    `/sessions/${id}/messages`,
    { content: 'Number 2' },
    { ...ASYNC, 'idempotency-key': 'accepted-2' },
  );
  expect([again.status, again.body.message_id, again.headers.get('idempotency-replayed')]).toEqual([
    202,
    ids[1],
    'true',
  ]);
  held.finish();
  expect((await running).status).toBe(200);
  await eventually(async () => expect(await history(id)).toHaveLength(12), 20_000);
  const said = await history(id);
  expect(said.map(({ role }) => role)).toEqual(
    Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? 'user' : 'assistant')),
  );
  expect(told(said).slice(0, 10)).toEqual([
    'u: Begin',
    'a: First',
    ...[1, 2, 3, 4].flatMap((n) => [`u: Number ${n}`, `a: You said "Number ${n}"`]),
  ]);
  expect(
    said
      .filter(({ role }) => role === 'user')
      .slice(1)
      .map(({ message_id }) => message_id),
  ).toEqual(ids);
  expect(provider.requests).toHaveLength(6);
  expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain('attached bytes');
});

test('kill -9 of a replica with a turn and accepted messages behind it: all are answered elsewhere, in order', async () => {
  holdFirst().say('Half');
  const { victim, caller } = victimCaller();
  const id = await newSession(standing);
  await accept(caller, id, 'Begin');
  await eventually(() => expect(provider.requests).toHaveLength(1));
  for (const n of [1, 2]) await accept(caller, id, `Number ${n}`);
  victim.kill('SIGKILL');
  await victim.ended;
  await database.query(
    `UPDATE sessions SET turn_lease_until = now() - interval '1 second' WHERE turn_owner LIKE '%:' || $1 || ':%'`,
    [String(victim.pid)],
  );
  await eventually(async () => expect(await history(id)).toHaveLength(6), 20_000);
  const said = await history(id);
  expect(said.map(({ role, incomplete }) => [role, incomplete])).toEqual([
    ['user', undefined],
    ['assistant', undefined],
    ...[1, 2].flatMap(() => [
      ['user', undefined],
      ['assistant', undefined],
    ]),
  ]);
  // The running turn had stored nothing, so the model was asked again.
  expect(provider.requests).toHaveLength(4);
});

test('messages that wait for answers and messages that do not are answered in one order', async () => {
  const held = holdFirst();
  const id = await newSession(standing);
  const sent = [standing.a.post(`/sessions/${id}/messages`, { content: 'Begin' })];
  await eventually(() => expect(provider.requests).toHaveLength(1));
  const waiting = async (count: number) => {
    const [row] = await database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM turns WHERE session_id = $1 AND status = 'waiting'`,
      [id],
    );
    expect(row?.n).toBe(count);
  };
  for (const n of [1, 2, 3, 4, 5, 6]) {
    if (n % 2 === 1) await accept(standing.a, id, `Number ${n}`);
    else sent.push(standing.a.post(`/sessions/${id}/messages`, { content: `Number ${n}` }));
    await eventually(() => waiting(n));
  }
  held.finish();
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(sent.map(() => 200));
  await eventually(async () => expect(await history(id)).toHaveLength(14));
  const users = (await history(id)).filter(({ role }) => role === 'user').map(({ content }) => content);
  expect(users).toEqual(['Begin', ...[1, 2, 3, 4, 5, 6].map((n) => `Number ${n}`)]);
});

test('the line is full at its limit, and an accepted message of a session that ends is in the history, cancelled', async () => {
  holdFirst();
  const id = await newSession(standing);
  const begun = standing.a.post(`/sessions/${id}/messages`, { content: 'Begin' });
  await eventually(() => expect(provider.requests).toHaveLength(1));
  for (let n = 0; n < 8; n += 1) await accept(standing.a, id, `Number ${n}`);
  const refused = await standing.a.post(`/sessions/${id}/messages`, { content: 'One too many' }, ASYNC);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([409, '1']);
  expect((await standing.b.delete(`/sessions/${id}`)).status).toBe(204);
  expect((await begun).status).toBe(409);
  await eventually(async () => {
    const turns = await database.query<{ status: string }>('SELECT status FROM turns WHERE session_id = $1', [
      id,
    ]);
    expect(turns.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 'cancelled'));
  });
  expect(told(await history(id))).toEqual([
    'u: Begin',
    ...Array.from({ length: 8 }, (_, n) => `u: Number ${n}`),
  ]);
  expect(await database.query(`SELECT id FROM messages WHERE content = 'One too many'`)).toEqual([]);
  expect(provider.requests).toHaveLength(1);
});
