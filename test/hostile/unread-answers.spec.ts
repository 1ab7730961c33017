import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { channelEnv } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { postSigned, signedHeaders } from '../harness/inbound.js';

const SECRET = 'a secret of sixteen bytes';
const CHANNELS = ['desk', 'shop', 'lab'] as const;
/** In base64 more than the sockets of both ends buffer while nobody reads: 4 MB to send, and less to receive. */
const LARGE = Buffer.alloc(8 * 1_048_576, 1);
/** Responses of one channel, and of all channels. */
const SHARE = 4;
const ROOM = 8;
/** Many times as long as a response takes when there is room for it. */
const A_WHILE_MS = 1500;

let gateway: TestGateway;
const open: Socket[] = [];
beforeAll(async () => {
  const settings = { type: 'webhook', secret: SECRET, allowed_users: '*' };
  gateway = await startTestGateway({
    env: Object.assign({}, ...CHANNELS.map((name) => channelEnv(name, settings))) as Record<string, string>,
  });
  const files = [{ name: 'large.bin', mimeType: 'application/octet-stream', data: LARGE }];
  gateway.tools.register({
    name: 'make',
    description: 'Makes a large file.',
    inputSchema: { type: 'object' },
    run: () => Promise.resolve({ content: 'made', files }),
  });
  for (const channel of CHANNELS) expect((await post(channel)).size).toBeGreaterThan(LARGE.length);
}, 120_000);
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});
afterAll(() => gateway.stop());

const bodyOf = (channel: string, content: string): string =>
  JSON.stringify({ conversation: `c-${channel}`, user: 'ada', content });
const message = (channel: string) => ({ id: `m-${channel}`, body: bodyOf(channel, '/call make {}') });

interface Came {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly size: number;
  readonly body: { readonly content?: string; readonly error?: { readonly details: object } };
}

/** Posts the channel's message (after the first time, again) and reads the response. */
async function post(channel: string, posted = message(channel)): Promise<Came> {
  const response = await postSigned(gateway, channel, SECRET, posted);
  const text = await response.text();
  const body = JSON.parse(text) as Came['body'];
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    size: text.length,
    body,
  };
}

/** The same over a socket that reads only the beginning of the response. */
function postUnread(channel: string): Socket {
  const { id, body } = message(channel);
  const headers = { host: 'gateway.test', ...signedHeaders(SECRET, { id, body }) };
  const lines = Object.entries({ ...headers, 'content-length': String(body.length) }).map((one) =>
    one.join(': '),
  );
  const socket = connect(gateway.started.ports.b ?? 0, '127.0.0.1');
  open.push(socket);
  socket.on('error', () => undefined);
  // A listener that takes nothing: the socket reads a first chunk and no more.
  socket.on('readable', () => undefined);
  socket.write(`POST /inbound/${channel} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

const hasBegun = (socket: Socket): boolean => socket.readableLength > 0;

/** The status of what has begun; on a slow machine a caller has waited too long by then, and has a 429. */
function statusOf(socket: Socket): string | undefined {
  const part = socket.read() as Buffer | null;
  if (part !== null) socket.unshift(part);
  return part?.toString('latin1', 'HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
}

async function held(channel: string, count = SHARE): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => postUnread(channel));
  await eventually(() => expect(sockets.map(hasBegun)).toEqual(Array(count).fill(true)));
  return sockets;
}

test('eight answers with files are in memory at once: the ninth waits, and goes when the caller of one of them does', async () => {
  const [first] = await held('desk');
  await held('shop');
  expect(open).toHaveLength(ROOM);
  const ninth = post('lab');
  const isThere = await Promise.race([ninth.then(() => true), sleep(A_WHILE_MS, false)]);
  expect(isThere).toBe(false);
  // An answer without a file needs no room.
  const small = { id: 'small', body: bodyOf('lab-small', 'Hello') };
  expect((await post('lab', small)).status).toBe(200);
  first?.destroy();
  expect(await ninth).toMatchObject({ status: 200, body: { content: 'made' } });
});

test('callers of one channel that do not read have half of the room, and keep those of no other waiting', async () => {
  await held('desk');
  const fifth = postUnread('desk');
  for (let n = 0; n < 2; n += 1) expect((await post('shop')).status).toBe(200);
  await sleep(A_WHILE_MS);
  expect([undefined, '429']).toContain(statusOf(fifth));
  const next = hasBegun(fifth) ? postUnread('desk') : fifth;
  open[0]?.destroy();
  await eventually(() => expect(statusOf(next)).toBe('200'));
});

test('who waits too long is told when to come again, by whom the room is taken, and then gets the answer', async () => {
  const [ofDesk] = await held('desk');
  const [ofShop] = await held('shop');
  const [own, others] = await Promise.all([post('desk'), post('lab')]);
  expect(own).toMatchObject({ status: 429, retryAfter: '5' });
  expect(own.body.error).toMatchObject({ code: 'rate_limited', details: { reason: 'channel_answers' } });
  expect(others).toMatchObject({ status: 503, retryAfter: '5' });
  expect(others.body.error).toMatchObject({ details: { reason: 'too_many_answers' } });
  for (const socket of [ofDesk, ofShop]) socket?.destroy();
  for (const channel of ['desk', 'lab'])
    expect(await post(channel)).toMatchObject({ status: 200, body: { content: 'made' } });
});

test('callers that go away while they wait, or whose answers are read, leave the room as it was', async () => {
  await held('desk');
  const waiting = Array.from({ length: ROOM }, () => postUnread('desk'));
  await sleep(A_WHILE_MS);
  expect(waiting.map(statusOf)).not.toContain('200');
  for (const socket of open.splice(0)) socket.destroy();
  for (let n = 0; n < ROOM + 1; n += 1) expect((await post('desk')).status).toBe(200);
  await held('desk');
});
