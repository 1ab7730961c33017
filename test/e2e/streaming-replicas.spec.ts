import { EventSource } from 'eventsource';
import { RemoteTurnsStore } from '../../src/areas/turns/relay/remote-turns.store.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { wires } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { SocketClient } from '../harness/socket-client.js';
import { heldAnswer, newSession, providerEnv, TurnStream } from '../harness/turn-stream.js';

jest.setTimeout(60_000);

const bench = new ProcessBench();
let database: TestDatabase;
let provider: ScriptedProvider;
let runner: TestGateway;
let other: TestGateway;
const sockets: SocketClient[] = [];
const streams: TurnStream[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await startScriptedProvider();
  const env = providerEnv(provider);
  runner = await startTestGateway({ database, env });
  other = await startTestGateway({ database, env });
});
afterEach(() => {
  for (const { socket } of sockets.splice(0)) socket.terminate();
  for (const stream of streams.splice(0)) stream.close();
});
afterAll(async () => {
  await bench.clear();
  await Promise.all([runner, other].map((gateway) => gateway.stop()));
  await provider.stop();
  await database.drop();
});

/** A viewer over a WebSocket. */
async function socketOn(gateway: TestGateway, id: string, lastEventId?: string): Promise<SocketClient> {
  const seen = lastEventId === undefined ? '' : `?last_event_id=${lastEventId}`;
  const url = `ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${id}${seen}`;
  const client = await SocketClient.open(url, { headers: { authorization: `Bearer ${gateway.token}` } });
  sockets.push(client);
  return client;
}

/** A viewer over Server-Sent Events. One that sends a message sees only its own turn. */
async function streamOn(gateway: TestGateway, id: string, content?: string): Promise<TurnStream> {
  const wish = content === undefined ? {} : { body: { content } };
  const url = `${gateway.b.base}/sessions/${id}/messages`;
  const stream = await TurnStream.open(url, gateway.token, wish);
  streams.push(stream);
  return stream;
}

const shown = ({ frames }: SocketClient) =>
  frames.map(({ type, content }) => (type === 'token' ? String(content) : `<${type}>`)).join('');

async function framesKept(): Promise<number> {
  const [row] = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM turn_frames');
  return row?.n ?? -1;
}

test('a WebSocket and an EventSource on another replica see a turn as it happens, tool calls and all', async () => {
  const remove = runner.tools.register({
    name: 'weather',
    description: 'Says how it is.',
    inputSchema: { type: 'object' },
    run: () => Promise.resolve('sunny'),
  });
  const [wire] = wires;
  if (wire === undefined) throw new Error('There is no wire.');
  const answer = heldAnswer();
  provider.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    for (const event of [...wire.opening, wire.text('Let me look. '), wire.argument('{}', true), end])
      response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end('data: [DONE]\n\n');
  }, answer.script);
  const id = await newSession(runner);
  const local = await socketOn(runner, id);
  const remote = await socketOn(other, id);
  const source = new EventSource(`${other.a.base}/sessions/${id}/messages`, {
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${other.token}` } }),
  });
  const told: string[] = [];
  for (const kind of ['token', 'tool_call', 'tool_result', 'done'])
    source.addEventListener(kind, ({ data }) =>
      told.push(kind === 'token' ? (JSON.parse(String(data)) as { content: string }).content : `<${kind}>`),
    );
  await new Promise((resolve) => source.addEventListener('open', resolve));
  local.send({ type: 'message', content: 'How is it?' });
  answer.say('It is \u{1f31e}');
  const half = 'Let me look. <tool_call><tool_result>\n\nIt is \u{1f31e}';
  await eventually(() => expect([shown(remote), told.join('')]).toEqual([half, half]));
  expect(remote.of('done')).toEqual([]);
  answer.say(' sunny.');
  answer.finish();
  await remote.until('done');
  await eventually(() => expect(told.join('')).toBe(`${half} sunny.<done>`));
  await local.until('done');
  const whole = (client: SocketClient) => client.frames.filter(({ type }) => type !== 'token');
  expect(whole(remote)).toEqual(whole(local));
  source.close();
  remove();
});

test('a viewer that comes late or comes back, on any replica and at any place, gets exactly the rest', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  const id = await newSession(runner);
  const local = await socketOn(runner, id);
  local.send({ type: 'message', content: 'Count' });
  const words = ['One', ' two', ' \u{1f600}', ' "quoted\\"', ` ${'long '.repeat(40_000)}`];
  for (const [n, word] of words.entries()) {
    answer.say(word);
    await local.untilSaid(words.slice(0, n + 1).join(''));
  }
  const said = words.join('');
  const ids = local.frames.map((frame) => String(frame['event_id']));
  const late = await socketOn(other, id);
  await late.untilSaid(said);
  const resumed = await Promise.all(ids.map((lastId) => socketOn(other, id, lastId)));
  answer.say(' end');
  answer.finish();
  await late.until('done');
  expect(late.said()).toBe(`${said} end`);
  for (const [n, client] of resumed.entries()) {
    await client.until('done');
    const before = local.frames.slice(0, n + 1).map(({ content }) => String(content));
    expect(before.join('') + client.said()).toBe(`${said} end`);
  }
  const after = await socketOn(other, id, ids[1]);
  await after.until('done');
  expect(`One two${after.said()}`).toBe(`${said} end`);
  const nothingNew = await socketOn(other, id, String(late.frames.at(-1)?.['event_id']));
  nothingNew.send({ type: 'ping' });
  await nothingNew.until('pong');
  expect(nothingNew.frames.map(({ type }) => type)).toEqual(['pong']);
});

test('turns of one session on both replicas are shown in their order and once, and failures too', async () => {
  const id = await newSession(runner);
  const viewers = await Promise.all([runner, other].map((gateway) => socketOn(gateway, id)));
  let n = 0;
  const [wire] = wires;
  provider.script((response) => {
    n += 1;
    if (n === 4) return void response.writeHead(400).end('{}');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [...(wire?.opening ?? []), wire?.text(`${n}`), ...(wire?.closing ?? [])])
      response.write(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  const statuses: number[] = [];
  for (const gateway of [runner, other, runner, runner, other])
    statuses.push((await gateway.b.post(`/sessions/${id}/messages`, { content: 'Next' })).status);
  expect(statuses).toEqual([200, 200, 200, 502, 200]);
  const order = '1<done>2<done>3<done><error>5<done>';
  for (const viewer of viewers) await eventually(() => expect(shown(viewer)).toBe(order));
  const [here, there] = viewers.map((viewer) => viewer.of('error').map(({ error }) => error));
  expect(there).toEqual(here);
});

test('nothing is written for a session that no one watches on another replica, and what was written is deleted', async () => {
  const store = other.started.app.get(RemoteTurnsStore, { strict: false });
  await database.query(`UPDATE turns SET ended_at = now() - interval '1 minute'`);
  await store.forget();
  expect(await framesKept()).toBe(0);
  const answer = heldAnswer();
  provider.script(answer.script);
  answer.say('Alone');
  const id = await newSession(runner);
  const local = await socketOn(runner, id);
  const sent = await streamOn(runner, id, 'Hi');
  await Promise.all([local.untilSaid('Alone'), sent.untilSaid('Alone')]);
  answer.finish();
  await Promise.all([local.until('done'), sent.untilEnded()]);
  expect(await framesKept()).toBe(0);
});

test('a viewer whose own replica stops is told to come back at once, and continues on another', async () => {
  const leaving = await startTestGateway({ database, env: providerEnv(provider) });
  const answer = heldAnswer();
  provider.script(answer.script);
  answer.say('Before');
  const id = await newSession(runner);
  const sent = runner.b.post(`/sessions/${id}/messages`, { content: 'Hi' });
  const client = await socketOn(leaving, id);
  await client.untilSaid('Before');
  await leaving.stop();
  await eventually(() => expect(client.closed?.code).toBe(1012));
  answer.say(' and after');
  const again = await socketOn(other, id, String(client.frames.at(-1)?.['event_id']));
  await again.untilSaid(' and after');
  answer.finish();
  await again.until('done');
  expect((await sent).status).toBe(200);
});

test('kill -9 of the replica that runs a turn: its viewers on other replicas are told that it starts again, and see its answer', async () => {
  const env = {
    ...providerEnv(provider),
    DATABASE_URL: database.url,
    GATEWAY_MASTER_KEY: 'a master key that only tests may use',
  };
  const victim = await bench.serve({ env });
  const answer = heldAnswer();
  const next = heldAnswer();
  provider.script(answer.script, next.script);
  answer.say('Half');
  next.say('The whole');
  const id = await newSession(runner);
  const viewer = await socketOn(other, id);
  const stream = await streamOn(runner, id);
  const sent = new HttpCaller(victim.b, runner.token)
    .post(`/sessions/${id}/messages`, { content: 'Hi' })
    .catch(() => undefined);
  await viewer.untilSaid('Half');
  await stream.untilSaid('Half');
  victim.kill('SIGKILL');
  await victim.ended;
  expect(await sent).toBeUndefined();
  await database.query(
    `UPDATE sessions SET turn_lease_until = now() - interval '1 second' WHERE turn_owner LIKE '%:' || $1 || ':%'`,
    [String(victim.pid)],
  );
  expect(await viewer.until('restarted')).toMatchObject({ attempt: 2 });
  await stream.until('restarted');
  await viewer.untilSaid('HalfThe whole');
  await stream.untilSaid('HalfThe whole');
  next.finish();
  await Promise.all([viewer.until('done'), stream.until('done')]);
});
