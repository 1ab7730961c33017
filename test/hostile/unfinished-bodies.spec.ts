import { connect, type Socket } from 'node:net';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { SocketClient } from '../harness/socket-client.js';

const LARGEST = 1_048_576;
const PIECE = Buffer.alloc(LARGEST - 4096, 0x41);
/** The gateway has room for eight of the largest bodies, and one token may use half of it. */
const SHARE = 4;
const SENT = 10;

const REFUSED = { error: { details: { reason: 'api_token_bodies' } } };

let database: TestDatabase;
let gateway: TestGateway;
let messages: string;
const open: Socket[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const env = {
    GATEWAY__PROVIDER__KIND: 'offline',
    GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '1000',
    GATEWAY__GATEWAY__MAX_MESSAGE_BODY_BYTES: String(LARGEST),
  };
  gateway = await startTestGateway({ database, env });
  const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
  messages = `/sessions/${body.id}/messages`;
});
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});
afterAll(async () => {
  await gateway.stop();
  await database.drop();
});

/** A connection that records its response. */
function connected(head: readonly string[]): { socket: Socket; answer: () => string } {
  const url = new URL(gateway.b.base);
  const socket = connect(Number(url.port), url.hostname);
  open.push(socket);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.write(
    `${[...head, 'Host: gateway', `Authorization: Bearer ${gateway.token}`].join('\r\n')}\r\n\r\n`,
  );
  return { socket, answer: () => text };
}

function unfinishedPost(): { socket: Socket; answer: () => string } {
  const connection = connected([
    `POST /api/v1${messages} HTTP/1.1`,
    'Content-Type: application/json',
    `Content-Length: ${LARGEST}`,
  ]);
  connection.socket.write(PIECE);
  return connection;
}

const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** A message of the largest size that never ends. */
async function unfinishedMessage(): Promise<{ socket: Socket; answer: () => string }> {
  const path = messages.replace(/\/messages$/, '');
  const connection = connected([`GET /ws${path} HTTP/1.1`, ...HANDSHAKE]);
  await eventually(() => expect(connection.answer()).toContain('101 Switching'));
  const head = Buffer.alloc(14);
  head.set([0x81, 0x80 | 127]);
  head.writeBigUInt64BE(BigInt(LARGEST), 2);
  connection.socket.write(Buffer.concat([head, PIECE]));
  return connection;
}

async function isServedInTheEnd(): Promise<void> {
  for (const socket of open.splice(0)) socket.destroy();
  const large = { content: 'A file', attachments: [fileOf(PIECE.length - 10_000)] };
  await eventually(async () => expect((await gateway.b.post(messages, large)).status).toBe(200));
}

function fileOf(characters: number): object {
  const data = 'QUJD'.repeat(characters / 4);
  return { type: 'file', mime_type: 'application/octet-stream', data };
}

test('bodies that never end take no more than the share of their caller, and small ones are served meanwhile', async () => {
  const posts = Array.from({ length: SENT }, unfinishedPost);
  const refused = () => posts.filter(({ answer }) => answer().includes('api_token_bodies'));
  await eventually(() => expect(refused()).toHaveLength(SENT - SHARE));
  for (const { answer } of refused())
    expect(answer()).toMatch(/^HTTP\/1\.1 429 (?:.*\r\n)+Retry-After: 1\r\n/);
  expect((await gateway.b.post(messages, { content: 'Hello' })).status).toBe(200);
  await isServedInTheEnd();
});

test('so it is with messages over a WebSocket: a further one waits until there is room', async () => {
  const large = { content: 'A file', attachments: [fileOf(PIECE.length - 10_000)] };
  for (let opened = 0; opened < SENT; opened += 1) await unfinishedMessage();
  await eventually(async () => {
    const refused = await gateway.b.post(messages, large);
    expect(refused).toMatchObject({ status: 429, body: REFUSED });
  });
  const headers = { authorization: `Bearer ${gateway.token}` };
  const path = messages.replace(/\/messages$/, '');
  const url = new URL(`/ws${path}`, gateway.b.base.replace('http', 'ws')).href;
  const client = await SocketClient.open(url, { headers });
  client.send({ type: 'message', ...large });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect([client.of('done'), client.of('error'), client.closed]).toEqual([[], [], undefined]);
  for (const socket of open.splice(0)) socket.destroy();
  await client.until('done');
  client.socket.terminate();
  await isServedInTheEnd();
});
