import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { EventStream } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { HttpCaller } from '../harness/http-caller.js';

/** A token that uses its whole share does not affect any other token, across all replicas. */
let database: TestDatabase;
let replicas: readonly [TestGateway, TestGateway];
let tokens: { readonly greedy: string; readonly other: string; readonly favoured: string };

const SHARES = {
  GATEWAY__LIMITS__HOOKS_PER_API_TOKEN: '3',
  GATEWAY__LIMITS__STREAMS_PER_API_TOKEN: '2',
  GATEWAY__LIMITS__WAITING_MESSAGES_PER_API_TOKEN: '2',
  GATEWAY__LIMITS__STORED_BYTES_PER_API_TOKEN: '100000',
  GATEWAY__LOGGING__MAX_STREAMS: '3',
};

beforeAll(async () => {
  database = await createTestDatabase();
  replicas = [
    await startTestGateway({ database, env: SHARES }),
    await startTestGateway({ database, env: SHARES }),
  ];
  const [first] = replicas;
  tokens = {
    greedy: await first.mint({ name: 'greedy' }),
    other: await first.mint({ name: 'other' }),
    favoured: await first.mint({ name: 'favoured' }),
  };
  await first.b.patch('/config', { 'limits.api_tokens.favoured.hooks': 4 });
  for (const { tools } of replicas)
    tools.register({
      name: 'hold',
      description: 'Holds the turn until its end.',
      inputSchema: { type: 'object' },
      run: (_args, _context, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    });
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await database.drop();
});

const on = (replica: 0 | 1, token: string): HttpCaller => replicas[replica].caller('b', token);
const newSession = async (caller: HttpCaller): Promise<string> =>
  (await caller.post<{ id: string }>('/sessions', {})).body.id;

interface Refusal {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: { readonly reason: string };
  };
}

function expectRefusal(
  answer: { readonly status: number; readonly body: unknown },
  status: number,
  reason: string,
  setting: string,
): void {
  const { error } = answer.body as Refusal;
  expect([answer.status, error.code, error.details.reason]).toEqual([
    ...[status, status === 429 ? 'rate_limited' : 'bad_request', reason],
  ]);
  expect(error.message).toContain(setting);
}

test('webhooks: a token has as many as its share on all replicas together, and 400 past it', async () => {
  const register = (caller: HttpCaller, at: number) =>
    caller.post('/hooks', { url: `http://127.0.0.1:59999/${at}`, events: ['session.created'] });
  for (const at of [0, 1, 2] as const) {
    expect((await register(on(at === 1 ? 1 : 0, tokens.greedy), at)).status).toBe(201);
  }
  for (const replica of [0, 1] as const) {
    const refused = await register(on(replica, tokens.greedy), 3);
    expectRefusal(refused, 400, 'api_token_hooks', 'limits.hooks_per_api_token');
  }
  expect((await register(on(0, tokens.other), 4)).status).toBe(201);
  for (const at of [5, 6, 7, 8]) expect((await register(on(0, tokens.favoured), at)).status).toBe(201);
  expect((await register(on(0, tokens.favoured), 9)).status).toBe(400);
});

test('attachments: what a token stores is counted on all replicas, 429 past its share, and free again when it goes', async () => {
  const bytes = 40_000;
  const file = { type: 'file', mime_type: 'text/plain', data: Buffer.alloc(bytes, 'x').toString('base64') };
  const send = async (caller: HttpCaller, session: string) =>
    caller.post(`/sessions/${session}/messages`, { content: 'keep this', attachments: [file] });
  const session = await newSession(on(0, tokens.greedy));
  expect((await send(on(0, tokens.greedy), session)).status).toBe(200);
  expect((await send(on(1, tokens.greedy), session)).status).toBe(200);
  const before = await database.query('SELECT id FROM messages');
  const refused = await send(on(1, tokens.greedy), session);
  expectRefusal(refused, 429, 'api_token_stored_bytes', 'limits.stored_bytes_per_api_token');
  expect(await database.query('SELECT id FROM messages')).toHaveLength(before.length);
  expect(
    (await on(0, tokens.greedy).post(`/sessions/${session}/messages`, { content: 'only text' })).status,
  ).toBe(200);
  expect((await send(on(0, tokens.other), session)).status).toBe(200);
  await database.query(`DELETE FROM sessions WHERE id = '${session}'`);
  expect((await send(on(0, tokens.greedy), await newSession(on(0, tokens.greedy)))).status).toBe(200);
});

test('waiting messages: a token has as many as its share on all replicas, 429 past it, and others wait on', async () => {
  const busy = async (token: string) => {
    const session = await newSession(on(0, token));
    void on(0, token)
      .post(`/sessions/${session}/messages`, { content: '/call hold {}' })
      .catch(() => undefined);
    await eventually(async () => {
      const rows = await database.query(
        `SELECT 1 FROM turns WHERE session_id = '${session}' AND status = 'running'`,
      );
      expect(rows).toHaveLength(1);
    });
    return session;
  };
  const wait = (replica: 0 | 1, token: string, session: string) =>
    on(replica, token).post(
      `/sessions/${session}/messages`,
      { content: 'later' },
      { prefer: 'respond-async' },
    );
  const sessions = [await busy(tokens.greedy), await busy(tokens.greedy)] as const;
  expect((await wait(0, tokens.greedy, sessions[0])).status).toBe(202);
  expect((await wait(1, tokens.greedy, sessions[1])).status).toBe(202);
  const refused = await wait(0, tokens.greedy, sessions[1]);
  expectRefusal(refused, 429, 'api_token_waiting', 'limits.waiting_messages_per_api_token');
  expect((await wait(0, tokens.other, sessions[1])).status).toBe(202);
  for (const session of sessions) await on(0, tokens.other).delete(`/sessions/${session}`);
});

test('viewers: a token has its share of the places of a process, 429 past it, and a place that is left is free', async () => {
  const session = await newSession(on(0, tokens.greedy));
  const url = `http://127.0.0.1:${replicas[0].started.ports.b}/api/v1/sessions/${session}/messages`;
  const open: EventStream[] = [];
  const view = async (token: string) => {
    const stream = await EventStream.open(url, token, { accept: 'text/event-stream' });
    open.push(stream);
    return stream;
  };
  for (const _ of [1, 2]) expect((await view(tokens.greedy)).response.statusCode).toBe(200);
  const refused = await on(0, tokens.greedy).get(`/sessions/${session}/messages`, {
    accept: 'text/event-stream',
  });
  expectRefusal(refused, 429, 'api_token_streams', 'limits.streams_per_api_token');
  expect((await view(tokens.other)).response.statusCode).toBe(200);
  open[0]?.close();
  await eventually(async () => expect((await view(tokens.greedy)).response.statusCode).toBe(200));
  for (const stream of open) stream.close();
});

test('log streams: a token has at most half of the places, and another finds one', async () => {
  const url = `http://127.0.0.1:${replicas[1].started.ports.b}/api/v1/logs/stream`;
  const open = [await EventStream.open(url, tokens.greedy), await EventStream.open(url, tokens.greedy)];
  expect(open.map(({ response }) => response.statusCode)).toEqual([200, 200]);
  const refused = await on(1, tokens.greedy).get('/logs/stream');
  expectRefusal(refused, 429, 'api_token_streams', 'limits.streams_per_api_token');
  open.push(await EventStream.open(url, tokens.other));
  expect(open.at(-1)?.response.statusCode).toBe(200);
  for (const stream of open) stream.close();
});
