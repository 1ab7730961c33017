import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
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

/** A tool that answers when it is told to. */
function slowTool(tool: string): () => void {
  let end = (): void => undefined;
  const ended = new Promise<string>((resolve) => {
    end = () => resolve('done');
  });
  const inputSchema = { type: 'object', properties: {} };
  gateway.tools.register({ name: tool, description: 'Takes its time.', inputSchema, run: () => ended });
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
type Sender = (text: string) => Promise<number>;
const byRest: Sender = async (content) => {
  const { id } = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
  return posted(`/api/v1/sessions/${id}/messages`, { ...LARGE, content }, { prefer: 'respond-async' });
};
const byResponses: Sender = (text) => {
  const file = { type: 'input_file', file_data: FILE.data, filename: 'a.bin' };
  const content = [{ type: 'input_text', text }, file];
  const input = [{ role: 'user', content }];
  return posted('/v1/responses', { model: 'default', background: true, input }, {});
};
const byA2a: Sender = (text) => {
  const parts = [{ text }, { raw: FILE.data, mediaType: FILE.mime_type }];
  const message = { messageId: newId('msg'), role: 'ROLE_USER', parts };
  const params = { message, configuration: { returnImmediately: true } };
  return posted('/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }, { 'a2a-version': '1.0' });
};

test.each([
  ['respond-async', 202, byRest],
  ['a background response', 200, byResponses],
  ['a task of A2A', 200, byA2a],
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

test('what is fetched for a message counts for its caller while it is fetched', async () => {
  const { id } = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
  const path = `/sessions/${id}/messages`;
  const { port } = files.address() as AddressInfo;
  const linked = {
    content: 'Look',
    attachments: [{ ...FILE, data: undefined, url: `http://127.0.0.1:${port}/` }],
  };
  let refused: unknown[] = [];
  const sent = Array.from({ length: SHARE + 2 }, async () => {
    const response = await gateway.b.post(path, linked);
    if (response.status === 429) refused = [...refused, response.body];
    return response.status;
  });
  await eventually(() => expect(refused.length).toBeGreaterThanOrEqual(2));
  for (const body of refused) expect(body).toMatchObject(REFUSED);
  for (const response of asked) response.end();
  expect(await Promise.all(sent)).toContain(200);
  expect((await gateway.b.post(path, LARGE)).status).toBe(200);
});

test('a caller that goes before its body is read leaves nothing behind', async () => {
  const { id } = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
  const path = `/sessions/${id}/messages`;
  for (let sent = 0; sent < 10 * SHARE; sent += 1) await sentByGone(path);
  await eventually(async () => expect((await gateway.b.post(path, LARGE)).status).toBe(200));
});
