import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool, McpBench, published, serverB, shared } from '../harness/mcp.js';
import { SocketClient } from '../harness/socket-client.js';
import { TaskServer } from '../harness/task-server.js';
import { newSession } from '../harness/turn-stream.js';

// Revision 2025-11-25 of the protocol, Tasks. The servers use the library of its authors.

const SETTINGS = '[agent]\ntool_timeout_ms = 20000\n';
const LOCAL = { GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always' };
const clients: SocketClient[] = [];
let server: TaskServer;
let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  server = await TaskServer.start();
  const http = { transport: 'http', url: server.url };
  const servers = {
    jobs: http,
    all: { ...http, isolation: 'shared' },
    every: published('everything'),
    one: shared(published('everything')),
  };
  bench = await McpBench.make(servers, SETTINGS);
  gateway = await startTestGateway({ env: { ...bench.env, ...LOCAL } });
  await eventually(async () => {
    for (const name of Object.keys(servers)) expect((await serverB(gateway, name))?.status).toBe('connected');
  }, 60_000);
}, 90_000);
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  server.instead = () => undefined;
});
afterAll(async () => {
  await gateway.stop();
  await server.stop();
  await bench.clear();
});

let last = 0;
function nextKey(): string {
  last += 1;
  return `key-${last}`;
}
/** A viewer of a session whose message makes this call. */
async function begun(tool = 'jobs__work', args: object = { key: nextKey() }) {
  const sessionId = await newSession(gateway);
  const client = await SocketClient.open(
    `ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${sessionId}`,
    {
      headers: { authorization: `Bearer ${gateway.token}` },
    },
  );
  clients.push(client);
  client.send({ type: 'message', content: `/call ${tool} ${JSON.stringify(args)}` });
  return { client, sessionId, key: `key-${last}` };
}

/** A gateway whose only server has this URL. */
async function ownGateway(url: string, settings = SETTINGS) {
  const place = await McpBench.make({ own: { transport: 'http', url } }, settings);
  const own = await startTestGateway({ env: { ...place.env, ...LOCAL } });
  await eventually(async () => expect((await serverB(own, 'own'))?.status).toBe('connected'));
  return { own, end: () => own.stop().then(() => place.clear()) };
}

/** Reconnecting by hand forgets earlier losses, so that losses in other tests do not lengthen the back-off here. */
async function reconnected(name: string): Promise<void> {
  await gateway.b.post(`/mcp/${name}/reconnect`);
  await eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'));
}

const made = (key: string) => server.calls.filter((one) => one === key).length;
const losses = () => gateway.logLines.filter((line) => line.includes('connection of a user was lost')).length;

test.each(['jobs', 'all'])(
  '%s: "Tool calls as tasks": a tool that requires it is called as a task, and its result is the answer',
  async (name) => {
    const { client, key } = await begun(`${name}__work`);
    const { id, askedTtl } = await server.task(key);
    await server.finish(key, 'the work is done');
    expect(await client.until('tool_result')).toMatchObject({ content: 'the work is done' });
    expect([made(key), server.count('tasks/result', id), server.count('tasks/cancel', id)]).toEqual([
      1, 1, 0,
    ]);
    // The call's time-out, plus a quarter of an hour for a gateway to come back.
    expect(askedTtl).toBe(20_000 + 900_000);
  },
);

test('a tool for which it is optional is called as a task; one that says nothing is not', async () => {
  const { client, key } = await begun('jobs__choose');
  await server.finish(key, 'chosen');
  expect(await client.until('tool_result')).toMatchObject({ content: 'chosen' });
  const results = server.count('tasks/result');
  expect(await callTool(gateway, 'jobs__plain', { key: 'plain' })).toMatchObject({ output: 'plainly' });
  expect(server.count('tasks/result')).toBe(results);
});

test('what the server says of the status is shown as progress', async () => {
  const { client, key } = await begun();
  await server.say(key, 'Gathering sources…');
  expect(await client.until('tool_progress')).toMatchObject({ progress: 1, message: 'Gathering sources…' });
  await server.say(key, 'Writing it down…');
  expect(await client.until('tool_progress', 2)).toMatchObject({ progress: 2, message: 'Writing it down…' });
  await server.finish(key, 'done');
  await client.until('tool_result');
});

test('"Requestors SHOULD respect the pollInterval", within bounds: a server that wants to be asked every millisecond is not', async () => {
  const hasty = await TaskServer.start({ pollInterval: 1 });
  const { own, end } = await ownGateway(hasty.url);
  const call = callTool(own, 'own__work', { key: 'fast' });
  const { id } = await hasty.task('fast');
  setTimeout(() => void hasty.finish('fast', 'done'), 2000);
  expect((await call).output).toBe('done');
  const polls = hasty.count('tasks/get', id);
  expect([polls > 4, polls < 11]).toEqual([true, true]);
  await end();
  await hasty.stop();
});

const unknown =
  /^Outcome unknown: the server does not know the task that ran this call any more\. .*Task not found/;
test.each<[string, (key: string) => Promise<void>, string | RegExp]>([
  ['failed with a result', (key) => server.finish(key, 'no such volume', true), 'no such volume'],
  [
    'failed without one',
    (key) => server.say(key, 'the disk is full', 'failed'),
    'The task that ran this call failed: the disk is full.',
  ],
  [
    'was cancelled at its server',
    (key) => server.say(key, 'Stopped by an admin.', 'cancelled'),
    'The server cancelled the task that ran this call: Stopped by an admin.',
  ],
  ['has expired, or was lost', (key) => server.forget(key), unknown],
])(
  'a task that %s is answered with that: nothing is called again, and no connection is lost',
  async (_, end, told) => {
    const before = [server.count('initialize'), losses()];
    const { client, key } = await begun();
    await server.task(key);
    await end(key);
    const { content, is_error } = await client.until('tool_result');
    expect(is_error).toBe(true);
    if (typeof told === 'string') expect(content).toBe(told);
    else expect(content).toMatch(told);
    expect([made(key), [server.count('initialize') - (before[0] ?? 0), losses()]]).toEqual([
      1,
      [0, before[1]],
    ]);
  },
);

test('a server that says it with an HTTP status has answered, too', async () => {
  const before = losses();
  const { client, key } = await begun();
  await server.task(key);
  const error = { code: -32602, message: 'no task of that name' };
  const body = JSON.stringify({ jsonrpc: '2.0', error, id: 0 }).replace('"id":0', '"id":$id');
  server.instead = (method) => (method === 'tasks/get' ? { status: 404, body } : undefined);
  expect(String((await client.until('tool_result'))['content'])).toContain('no task of that name');
  expect([made(key), losses()]).toEqual([1, before]);
});

/** Makes every request about a task fail, and nothing else. */
function failAboutTasks(status: number): void {
  server.instead = (method) => (method === 'tasks/get' ? { status, body: 'cannot say' } : undefined);
}

test.each([
  ['jobs', 404],
  ['jobs', 400],
  ['all', 404],
])(
  '%s: a server that answers %d to questions about the task only has lost the task, not its sessions',
  async (name, status) => {
    const { client, key } = await begun(`${name}__work`);
    await server.task(key);
    const before = server.count('initialize');
    failAboutTasks(status);
    const { content } = await client.until('tool_result', 1, 15_000);
    expect(content).toMatch(/^Outcome unknown: the server does not know the task/);
    expect([made(key), server.count('initialize')]).toEqual([1, before]);
  },
);

test('all: a task about which the server fails to answer for a while is asked about again, and nobody else is disturbed', async () => {
  const { client, key } = await begun('all__work');
  const { id } = await server.task(key);
  const before = server.count('initialize');
  failAboutTasks(500);
  const asked = server.count('tasks/get', id);
  await eventually(() => expect(server.count('tasks/get', id)).toBeGreaterThan(asked + 1));
  expect(await callTool(gateway, 'all__plain', { key: 'beside it' })).toMatchObject({ output: 'plainly' });
  server.instead = () => undefined;
  await server.finish(key, 'mended');
  expect(await client.until('tool_result', 1, 20_000)).toMatchObject({ content: 'mended' });
  expect([made(key), server.count('initialize')]).toEqual([1, before]);
});

test('a server that never says what became of the task is asked eight times, and the outcome is unknown', async () => {
  const mute = await TaskServer.start();
  const { own, end } = await ownGateway(mute.url, '[agent]\ntool_timeout_ms = 60000\n');
  mute.instead = (method) => (method === 'tasks/get' ? { status: 500, body: 'cannot say' } : undefined);
  const call = callTool(own, 'own__work', { key: 'mute' });
  const { id } = await mute.task('mute');
  const before = mute.count('initialize');
  const { status, output } = await call;
  expect([status, output]).toEqual([
    'error',
    expect.stringMatching(/^Outcome unknown: the server fails to say .*It answers with HTTP 500\.$/),
  ]);
  expect([mute.count('tasks/get', id), mute.count('initialize'), mute.calls]).toEqual([8, before, ['mute']]);
  await end();
  await mute.stop();
}, 70_000);

test('"tasks/cancel": a cancelled turn cancels the task', async () => {
  const { client, key } = await begun();
  const { id } = await server.task(key);
  await eventually(() => expect(server.count('tasks/get', id)).toBeGreaterThan(0));
  client.send({ type: 'cancel' });
  await client.until('error');
  await eventually(async () => expect(await server.statusOf(key)).toBe('cancelled'));
  expect(server.count('tasks/cancel', id)).toBe(1);
});

test('a call whose time is over cancels its task', async () => {
  const { own, end } = await ownGateway(server.url, '[agent]\ntool_timeout_ms = 1500\n');
  const { status, output } = await callTool(own, 'own__work', { key: 'late' });
  expect([status, output]).toEqual(['timeout', 'The tool did not answer within 1500 ms.']);
  await eventually(async () => expect(await server.statusOf('late')).toBe('cancelled'));
  await end();
});

test('"input_required": what the task asks goes to the person, also while it is asked about, and their answer to the task', async () => {
  const { client, key } = await begun();
  const { ask } = await server.task(key);
  await server.say(key, 'Which one?', 'input_required');
  const form = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] };
  const answer = ask({ mode: 'form', message: 'Which size?', requestedSchema: form });
  const { id: question_id } = await client.until('tool_question');
  client.send({ type: 'tool_answer', question_id, action: 'accept', content: { size: 'XL' } });
  expect(await answer).toMatchObject({ action: 'accept', content: { size: 'XL' } });
  await server.say(key, 'Going on');
  await server.finish(key, 'in XL');
  expect(await client.until('tool_result')).toMatchObject({ content: 'in XL' });
  expect(made(key)).toBe(1);
});

test.each(['jobs', 'all'])(
  '%s: a server that is away for a while is asked for the same task when it is back',
  async (name) => {
    await reconnected(name);
    const { client, key } = await begun(`${name}__work`);
    await server.task(key);
    await server.hangUp();
    setTimeout(() => void server.listen(), 1500);
    await server.finish(key, 'done meanwhile');
    const { content } = await client.until('tool_result', 1, 20_000);
    expect([content, made(key)]).toEqual(['done meanwhile', 1]);
    await eventually(async () => expect((await serverB(gateway, 'jobs'))?.status).toBe('connected'), 20_000);
    await eventually(async () => expect((await serverB(gateway, 'all'))?.status).toBe('connected'), 20_000);
  },
);

test.each(['jobs', 'all'])(
  '%s: a server that forgot our session is asked for the task in a new one',
  async (name) => {
    await reconnected(name);
    const { client, key } = await begun(`${name}__work`);
    await server.task(key);
    server.forgetSessions();
    await server.finish(key, 'kept');
    const { content } = await client.until('tool_result', 1, 20_000);
    expect([content, made(key)]).toEqual(['kept', 1]);
  },
);

test.each(['every', 'one'])(
  '%s: the research of the published server runs as a task, and asks',
  async (name) => {
    const tool = `${name}__simulate-research-query`;
    await eventually(async () =>
      expect((await serverB(gateway, name))?.tools).toContain('simulate-research-query'),
    );
    const { client } = await begun(tool, { topic: 'python', ambiguous: true });
    expect(await client.until('tool_progress')).toMatchObject({ message: 'Gathering sources...' });
    const { id: question_id } = await client.until('tool_question');
    client.send({ type: 'tool_answer', question_id, action: 'decline' });
    const { content } = await client.until('tool_result', 1, 20_000);
    expect(content).toContain('# Research Report: python (User declined');
  },
);
