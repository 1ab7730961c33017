import { mintToken } from '../../src/platform/tokens/token-format.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { McpBench, published, type ServerB } from '../harness/mcp.js';
import { TaskServer } from '../harness/task-server.js';

// A task outlives the replica that created it (docs/mcp.md, Tasks). Leases expire by themselves here.
jest.setTimeout(180_000);

const TAKEN_UP_MS = 20_000;
const bench = new ProcessBench();
const token = mintToken();
let database: TestDatabase;
let server: TaskServer;
let bound: TaskServer;
let place: McpBench;
let standing: GatewayProcess;

beforeAll(async () => {
  [database, server, bound] = await Promise.all([
    createTestDatabase(),
    TaskServer.start(),
    TaskServer.start({ bindsToSession: true }),
  ]);
  place = await McpBench.make({
    jobs: { transport: 'http', url: server.url },
    bound: { transport: 'http', url: bound.url },
    all: { transport: 'http', url: server.url, isolation: 'shared' },
    child: published('everything'),
  });
  standing = await startReplica();
}, 120_000);
afterAll(async () => {
  await bench.clear();
  await Promise.all([server.stop(), bound.stop(), place.clear()]);
  await database.drop();
});

const at = (replica: GatewayProcess) => new HttpCaller(replica.b, token);

async function startReplica(more: Record<string, string> = {}, at_ = database.url): Promise<GatewayProcess> {
  const started = await bench.serve({
    env: {
      ...place.env,
      DATABASE_URL: at_,
      GATEWAY_BOOTSTRAP_TOKEN: token,
      GATEWAY_MASTER_KEY: 'a master key that only tests may use',
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
      ...more,
    },
  });
  await eventually(async () => {
    const { body } = await at(started).get<{ servers: ServerB[] }>('/mcp');
    expect(body.servers.map(({ status }) => status)).toEqual(Array(4).fill('connected'));
  }, 60_000);
  return started;
}

interface Said {
  readonly content: string;
  readonly incomplete?: string;
  readonly tool_calls?: readonly { readonly status: string; readonly output: string }[];
}

/** A message whose call runs as a task on this replica. */
async function begun(on: GatewayProcess, tool: string, args: object): Promise<string> {
  const { body } = await at(on).post<{ id: string }>('/sessions', {});
  const content = `/call ${tool} ${JSON.stringify(args)}`;
  void at(on)
    .post(`/sessions/${body.id}/messages`, { content })
    .catch(() => undefined);
  return body.id;
}

async function answered(id: string, on = standing): Promise<Said | undefined> {
  const read = async () => (await at(on).get<{ messages: Said[] }>(`/sessions/${id}/messages`)).body.messages;
  await eventually(async () => expect(await read()).toHaveLength(2), TAKEN_UP_MS);
  return (await read())[1];
}

async function kill(victim: GatewayProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  victim.kill(signal);
  await victim.ended;
}

/** The gateway asks about a task only when its id is stored. */
async function polled(on: TaskServer, key: string): Promise<string> {
  const { id } = await on.task(key);
  await eventually(() => expect(on.count('tasks/get', id)).toBeGreaterThan(0));
  return id;
}

test.each(['jobs', 'all'])(
  '%s: kill -9 of the replica while the task runs: another asks for the same task, and the tool is called once',
  async (name) => {
    const victim = await startReplica();
    const key = `killed-${name}`;
    const session = await begun(victim, `${name}__work`, { key });
    const id = await polled(server, key);
    await kill(victim);
    const before = server.count('tasks/get', id);
    await eventually(() => expect(server.count('tasks/get', id)).toBeGreaterThan(before), TAKEN_UP_MS);
    await server.finish(key, 'done by one task');
    expect(await answered(session)).toMatchObject({
      tool_calls: [{ status: 'success', output: 'done by one task' }],
    });
    expect([server.calls.filter((one) => one === key), server.count('tasks/cancel', id)]).toEqual([[key], 0]);
  },
);

test('a task that ended, or was lost, while nobody asked is answered with what came of it', async () => {
  const victim = await startReplica();
  const keys = ['ended', 'failed', 'lost'] as const;
  const sessions = new Map<string, string>();
  for (const key of keys) sessions.set(key, await begun(victim, 'jobs__work', { key }));
  for (const key of keys) await polled(server, key);
  await kill(victim);
  await server.finish('ended', 'in the meantime');
  await server.finish('failed', 'no room', true);
  await server.forget('lost');
  const told = async (key: string) => (await answered(sessions.get(key) ?? ''))?.tool_calls?.[0];
  expect(await told('ended')).toMatchObject({ status: 'success', output: 'in the meantime' });
  expect(await told('failed')).toMatchObject({ status: 'error', output: 'no room' });
  const lost = await told('lost');
  expect([lost?.status, lost?.output]).toEqual([
    'error',
    expect.stringMatching(/^Outcome unknown: the server does not know the task/) as string,
  ]);
  for (const key of keys) expect(server.calls.filter((one) => one === key)).toEqual([key]);
});

test('a stop hands the turn over, and leaves the task alone', async () => {
  const victim = await startReplica({ GATEWAY__GATEWAY__DRAIN_TIMEOUT_MS: '1000' });
  const session = await begun(victim, 'jobs__work', { key: 'stopped' });
  const id = await polled(server, 'stopped');
  await kill(victim, 'SIGTERM');
  await server.finish('stopped', 'handed over');
  expect(await answered(session)).toMatchObject({ tool_calls: [{ output: 'handed over' }] });
  expect([server.calls.filter((one) => one === 'stopped').length, server.count('tasks/cancel', id)]).toEqual([
    1, 0,
  ]);
});

test('a turn that is cancelled after it was taken up cancels the task', async () => {
  const victim = await startReplica();
  const session = await begun(victim, 'jobs__work', { key: 'unwanted' });
  const id = await polled(server, 'unwanted');
  await kill(victim);
  const before = server.count('tasks/get', id);
  await eventually(() => expect(server.count('tasks/get', id)).toBeGreaterThan(before), TAKEN_UP_MS);
  expect((await at(standing).delete(`/sessions/${session}`)).status).toBeLessThan(300);
  await eventually(async () => expect(await server.statusOf('unwanted')).toBe('cancelled'));
});

test('a server that binds tasks to sessions is asked in the session that made it', async () => {
  const victim = await startReplica();
  const session = await begun(victim, 'bound__work', { key: 'bound' });
  await polled(bound, 'bound');
  await kill(victim);
  await bound.finish('bound', 'in its session');
  expect(await answered(session)).toMatchObject({ tool_calls: [{ output: 'in its session' }] });
  expect(bound.calls).toEqual(['bound']);
});

test('the task of a child ends with it: the model is told so, and nothing is called again', async () => {
  const victim = await startReplica();
  const session = await begun(victim, 'child__simulate-research-query', { topic: 'child' });
  // Its result takes four seconds.
  await eventually(async () => {
    const [row] = await database.query<{ tasks: string }>(
      `SELECT count(*) AS tasks FROM turn_steps JOIN turns ON turns.id = turn_id
       WHERE session_id = '${session}' AND content -> 'task' IS NOT NULL`,
    );
    expect(row?.tasks).toBe('1');
  }, 3000);
  await kill(victim);
  const call = (await answered(session))?.tool_calls?.[0];
  expect(call?.status).toBe('error');
  expect(call?.output).toMatch(/^Outcome unknown: the server ran this call as a task, and its process ended/);
});

test('with agent.resume off, a stop cancels the task', async () => {
  const other = await createTestDatabase();
  const victim = await startReplica(
    { GATEWAY__AGENT__RESUME: 'false', GATEWAY__GATEWAY__DRAIN_TIMEOUT_MS: '1000' },
    other.url,
  );
  await begun(victim, 'jobs__work', { key: 'given up' });
  await polled(server, 'given up');
  await kill(victim, 'SIGTERM');
  expect(await server.statusOf('given up')).toBe('cancelled');
  await other.drop();
});

test('the only replica is killed and started again: it goes on with the task', async () => {
  const other = await createTestDatabase();
  const first = await startReplica({}, other.url);
  const session = await begun(first, 'jobs__work', { key: 'alone' });
  await polled(server, 'alone');
  await kill(first);
  const second = await startReplica({}, other.url);
  await server.finish('alone', 'after the start');
  expect(await answered(session, second)).toMatchObject({ tool_calls: [{ output: 'after the start' }] });
  expect(server.calls.filter((one) => one === 'alone')).toEqual(['alone']);
  await kill(second);
  await other.drop();
});
