import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { RunningTurns } from '../../src/areas/turns/running-turns.js';
import { newId } from '../../src/common/ids/typeid.js';
import type { TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { SocketClient } from '../harness/socket-client.js';

/** docs/decisions/0532: what one caller sent may take half of the room for eight of the largest bodies, until its turn is over. */
const LARGEST = 1_048_576;
const SHARE = 4;
/** With its JSON just below the largest, and more than what may wait beside three others. */
const FILE = {
  type: 'file',
  mime_type: 'application/octet-stream',
  data: 'QUJD'.repeat((LARGEST - 8192) / 4),
};
const REFUSED = { error: { details: { reason: 'api_token_bodies' } } };
const LARGE = { content: 'Later', attachments: [FILE] };

/** Sends a request whose body is refused, and is gone before it is read. */
function sentByGone(path: string): Promise<void> {
  const { hostname, port } = new URL(gateway.b.base);
  const body = JSON.stringify({ content: '', unknown: FILE });
  const head = [
    ...[`POST /api/v1${path} HTTP/1.1`, 'Host: gateway', `Authorization: Bearer ${gateway.token}`],
    ...['Content-Type: application/json', `Content-Length: ${body.length}`],
  ];
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).once('close', () => resolve());
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  });
}

let database: TestDatabase;
let gateway: TestGateway;
let files: Server;
let asked: ServerResponse[] = [];

beforeAll(async () => {
  files = createServer((_request, response) => {
    asked.push(response);
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    response.write(Buffer.alloc(LARGEST));
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  const env = {
    GATEWAY__PROVIDER__KIND: 'offline',
    GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '1000',
    GATEWAY__GATEWAY__MAX_MESSAGE_BODY_BYTES: String(LARGEST),
    GATEWAY__MULTIMODAL__ALLOW_REMOTE_FETCH: 'true',
    GATEWAY__AGENT__MAX_WAITING: '20',
    GATEWAY__STREAMING__PING_INTERVAL_MS: '500',
  };
  gateway = await startTestGateway({ env });
  ({ database } = gateway);
});
afterEach(() => {
  for (const response of asked) response.destroy();
  asked = [];
});
afterAll(async () => {
  await gateway.stop();
  files.closeAllConnections();
  files.close();
});

/** How often each tool was called. */
const calls = new Map<string, number>();

/** A tool that answers when it is told to. */
function slowTool(tool: string): () => void {
  let end = (): void => undefined;
  const ended = new Promise<string>((resolve) => {
    end = () => resolve('done');
  });
  const inputSchema = { type: 'object', properties: {} };
  const run = (): Promise<string> => {
    calls.set(tool, (calls.get(tool) ?? 0) + 1);
    return ended;
  };
  gateway.tools.register({ name: tool, description: 'Takes its time.', inputSchema, run });
  return end;
}

/** A session whose turn runs until it is told to end. */
async function busySession(tool: string): Promise<{ id: string; end: () => void }> {
  const end = slowTool(tool);
  const { id } = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
  void gateway.b.post(`/sessions/${id}/messages`, { content: `/call ${tool} {}` });
  await eventually(async () => expect(await turns(id, 'running')).toHaveLength(1));
  return { id, end };
}

const turns = (session: string, status: string) =>
  database.query(`SELECT id FROM turns WHERE session_id = $1 AND status = $2`, [session, status]);

test('messages that wait for their turn take the share of their caller, and small ones wait beside them', async () => {
  const { id, end } = await busySession('slow');
  const path = `/sessions/${id}/messages`;
  const waiting = Array.from({ length: SHARE }, () => gateway.b.post(path, LARGE));
  await eventually(async () => expect(await turns(id, 'waiting')).toHaveLength(SHARE));
  const other = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
  const refused = await gateway.b.post(`/sessions/${other.id}/messages`, LARGE);
  expect(refused).toMatchObject({ status: 429, body: REFUSED });
  const small = gateway.b.post(path, { content: 'Hello' });
  await eventually(async () => expect(await turns(id, 'waiting')).toHaveLength(SHARE + 1));
  end();
  for (const sent of [...waiting, small]) expect((await sent).status).toBe(200);
  expect((await gateway.b.post(path, LARGE)).status).toBe(200);
});

test('so it is for those whose callers are gone, as long as they wait', async () => {
  const { id, end } = await busySession('slower');
  const gone = new AbortController();
  const sent = Array.from({ length: SHARE }, () =>
    fetch(`${gateway.b.base}/sessions/${id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(LARGE),
      signal: gone.signal,
    }),
  );
  await eventually(async () => expect(await turns(id, 'waiting')).toHaveLength(SHARE));
  gone.abort();
  await Promise.allSettled(sent);
  const other = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
  const path = `/sessions/${other.id}/messages`;
  expect((await gateway.b.post(path, LARGE)).status).toBe(429);
  end();
  await eventually(async () => expect((await gateway.b.post(path, LARGE)).status).toBe(200));
});

test('so it is over a WebSocket', async () => {
  const { id, end } = await busySession('slowest');
  const headers = { authorization: `Bearer ${gateway.token}` };
  const url = new URL(`/ws/sessions/${id}`, gateway.b.base.replace('http', 'ws')).href;
  const client = await SocketClient.open(url, { headers });
  for (let sent = 0; sent < SHARE; sent += 1) client.send({ type: 'message', ...LARGE });
  await eventually(async () => expect(await turns(id, 'waiting')).toHaveLength(SHARE));
  const path = `/sessions/${id}/messages`;
  expect((await gateway.b.post(path, LARGE)).status).toBe(429);
  end();
  await client.until('done', SHARE + 1);
  client.socket.terminate();
  expect((await gateway.b.post(path, LARGE)).status).toBe(200);
});

const posted = async (url: string, body: object, headers: Record<string, string>): Promise<number> => {
  const { status } = await fetch(new URL(url, gateway.b.base), {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return status;
};
const newSession = async (): Promise<string> =>
  (await gateway.b.post<{ id: string }>('/sessions', {})).body.id;
/** Sends a message with this text and a file: its bytes, unless they are at this URL. */
type Sender = (text: string, url?: string) => Promise<number>;
const byRest =
  (headers: Record<string, string> = {}): Sender =>
  async (content, url) => {
    const attachments = [url === undefined ? FILE : { ...FILE, data: undefined, url }];
    return posted(`/api/v1/sessions/${await newSession()}/messages`, { content, attachments }, headers);
  };
const byResponses =
  (more: object, ...later: object[]): Sender =>
  (text, url) => {
    const from = url === undefined ? { file_data: FILE.data, filename: 'a.bin' } : { file_url: url };
    const content = [
      { type: 'input_text', text },
      { type: 'input_file', ...from },
    ];
    return posted(
      '/v1/responses',
      { model: 'default', ...more, input: [{ role: 'user', content }, ...later] },
      {},
    );
  };
const byChat =
  (inSession: boolean): Sender =>
  async (text) => {
    const file = { file_data: FILE.data, filename: 'a.bin' };
    const content = [
      { type: 'text', text },
      { type: 'file', file },
    ];
    const body = { model: 'default', messages: [{ role: 'user', content }] };
    return posted('/v1/chat/completions', body, inSession ? { 'x-session-id': await newSession() } : {});
  };
const byA2a =
  (returnImmediately: boolean): Sender =>
  (text, url) => {
    const file = { mediaType: FILE.mime_type, ...(url === undefined ? { raw: FILE.data } : { url }) };
    const message = { messageId: newId('msg'), role: 'ROLE_USER', parts: [{ text }, file] };
    const params = { message, configuration: { returnImmediately } };
    return posted('/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }, { 'a2a-version': '1.0' });
  };
const bySocket: Sender = async (content) => {
  const headers = { authorization: `Bearer ${gateway.token}` };
  const url = new URL(`/ws/sessions/${await newSession()}`, gateway.b.base.replace('http', 'ws')).href;
  const client = await SocketClient.open(url, { headers });
  client.send({ type: 'message', ...LARGE, content });
  await client.until('done');
  client.socket.terminate();
  return 200;
};

test.each([
  ['respond-async', 202, byRest({ prefer: 'respond-async' })],
  ['a background response', 200, byResponses({ background: true })],
  ['a task of A2A', 200, byA2a(true)],
])('a message whose caller does not wait counts until its turn is over: %s', async (how, status, send) => {
  const tool = `for_${how.replace(/\W/g, '_')}`;
  const end = slowTool(tool);
  for (let sent = 0; sent < SHARE; sent += 1) expect(await send(`/call ${tool} {}`)).toBe(status);
  const { id } = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
  const path = `/sessions/${id}/messages`;
  expect((await gateway.b.post(path, LARGE)).status).toBe(429);
  end();
  await eventually(async () => expect((await gateway.b.post(path, LARGE)).status).toBe(200));
});

test.each([
  ['REST', byRest()],
  ['a response', byResponses({})],
  ['a response that is not stored', byResponses({ store: false })],
  ['a chat', byChat(false)],
  ['a chat in a session', byChat(true)],
  ['A2A', byA2a(false)],
  ['a WebSocket', bySocket],
])('a message counts while its turn runs: %s', async (how, send) => {
  const tool = `in_${how.replace(/\W/g, '_')}`;
  const end = slowTool(tool);
  const sent = Array.from({ length: SHARE }, () => send(`/call ${tool} {}`));
  await eventually(() => expect(calls.get(tool)).toBe(SHARE));
  const path = `/sessions/${await newSession()}/messages`;
  expect((await gateway.b.post(path, LARGE)).status).toBe(429);
  end();
  for (const status of sent) expect(await status).toBe(200);
  await eventually(async () => expect((await gateway.b.post(path, LARGE)).status).toBe(200));
});

test('a message over a WebSocket for which there is no room does not come in between pings', async () => {
  const { id, end } = await busySession('patient');
  const path = `/sessions/${id}/messages`;
  const waiting = Array.from({ length: SHARE }, () => gateway.b.post(path, LARGE));
  await eventually(async () => expect(await turns(id, 'waiting')).toHaveLength(SHARE));
  const other = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
  const headers = { authorization: `Bearer ${gateway.token}` };
  const url = new URL(`/ws/sessions/${other.id}`, gateway.b.base.replace('http', 'ws')).href;
  const client = await SocketClient.open(url, { headers });
  const bytes = Buffer.from(JSON.stringify({ type: 'message', ...LARGE }));
  const piece = 24_576;
  for (let at = 0; at < bytes.length; at += piece) {
    client.socket.send(bytes.subarray(at, at + piece), { fin: at + piece >= bytes.length, binary: false });
    client.socket.ping();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await turns(other.id, 'completed')).toHaveLength(0);
  // Nothing is read while it waits, also not what shows that the client is alive.
  expect([client.of('error'), client.closed]).toEqual([[], undefined]);
  end();
  for (const sent of waiting) expect((await sent).status).toBe(200);
  await client.until('done');
  client.socket.terminate();
});

test.each([
  ['REST', byRest()],
  ['a response', byResponses({})],
  [
    'a response with a history',
    byResponses({}, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'So?' }),
  ],
  ['a response that is not stored', byResponses({ store: false })],
  ['A2A', byA2a(false)],
])('what is fetched for a message counts for its caller while it is fetched: %s', async (_how, send) => {
  const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/`;
  const path = `/sessions/${await newSession()}/messages`;
  let refused = 0;
  const sent = Array.from({ length: SHARE + 2 }, async () => {
    const status = await send('Look', url);
    if (status === 429) refused += 1;
    return status;
  });
  await eventually(() => expect(refused).toBeGreaterThanOrEqual(2));
  for (const response of asked) response.end();
  expect(await Promise.all(sent)).toContain(200);
  await eventually(async () => expect((await gateway.b.post(path, LARGE)).status).toBe(200));
});

test('a turn that is stored nowhere ends when its caller went while it was being prepared', async () => {
  const running = gateway.started.app.get(RunningTurns, { strict: false });
  const end = slowTool('nobody_waits');
  const gone = new AbortController();
  const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/`;
  const content = [
    { type: 'input_text', text: '/call nobody_waits {}' },
    { type: 'input_file', file_url: url },
  ];
  const sent = fetch(new URL('/v1/responses', gateway.b.base), {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'default', store: false, input: [{ role: 'user', content }] }),
    signal: gone.signal,
  });
  await eventually(() => expect(asked).toHaveLength(1));
  const added = jest.spyOn(running, 'add');
  gone.abort();
  await expect(sent).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const response of asked) response.end();
  await eventually(() => expect(added).toHaveBeenCalledTimes(1));
  await eventually(() => expect(running.count).toBe(0));
  added.mockRestore();
  end();
});

test('a caller that goes before its body is read leaves nothing behind', async () => {
  const { id } = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
  const path = `/sessions/${id}/messages`;
  for (let sent = 0; sent < 10 * SHARE; sent += 1) await sentByGone(path);
  await eventually(async () => expect((await gateway.b.post(path, LARGE)).status).toBe(200));
});
