import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import express, { type RequestHandler } from 'express';
import { settingsSchema } from '../../platform/settings/settings.schema.js';
import type { AccessLog } from '../access-log/access-log.js';
import type { RawRefusal } from '../envelope/raw-refusal.js';
import { ProfileListeners } from './profile-listeners.js';

/** More than the kernel buffers for a caller that reads nothing. */
const LARGE = Buffer.alloc(20_000_000, 'x');
const CONNECT = 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n';
const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const upgrade = (path: string): string => get(path, 'Connection: upgrade\r\nUpgrade: foo\r\n');

const context = new AsyncLocalStorage<string>();
const handled: { path: string; timeout: number | undefined; within: string | undefined }[] = [];
const held: (() => void)[] = [];
const note: RequestHandler = ({ path, socket }, _response, next) => {
  handled.push({ path, timeout: socket.timeout, within: context.getStore() });
  context.run(path, next);
};

let listeners: ProfileListeners;
let port: number;
const sockets: Socket[] = [];
beforeEach(async () => {
  handled.length = held.length = 0;
  const app = express().use(note);
  app.get('/held', (_request, response) => held.push(() => response.send('held')));
  app.get('/large', (_request, response) => response.send(LARGE));
  app.get('/busy', (_request, response) => {
    const until = performance.now() + 2;
    while (performance.now() < until);
    response.send('busy');
  });
  app.get('/last', (_request, response) => response.set('Connection', 'close').send('last'));
  app.use((_request, response) => response.send('ok'));
  const accessLog = { finished: () => undefined, originOf: () => undefined } as unknown as AccessLog;
  const rawRefusal = { answer: (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') };
  listeners = new ProfileListeners(app, accessLog, rawRefusal as unknown as RawRefusal);
  const { gateway } = settingsSchema.parse({
    gateway: { host: '127.0.0.1', port: 0, profile_a_port: 0, management_port: 0, profiles: ['b'] },
  });
  port = (await listeners.open(gateway)).b ?? 0;
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listeners.close();
});

async function send(bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise(setImmediate);
}

const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);

test('of all that was sent ahead one begins in a turn, so that many connections keep others waiting as little as one', async () => {
  const count = () => handled.filter(({ path }) => path === '/busy').length;
  for (let n = 0; n < 30; n++) await send(get('/busy').repeat(50));
  await until(() => count() > 100);
  const socket = await send('');
  const before = count();
  socket.write(get('/ok'));
  await until(() => handled.some(({ path }) => path === '/ok'));
  expect(count() - before).toBeLessThan(10);
});

test('what was sent ahead on connections that have ended takes no turns from others', async () => {
  const ended: Socket[] = [];
  for (let n = 0; n < 50; n++) ended.push(await send(get('/held') + get('/ok').repeat(99)));
  await until(() => held.length === 50);
  for (const socket of ended) socket.resetAndDestroy();
  await until(() => listeners.unansweredRoutes.length === 0);
  await send(get('/ok') + get('/last'));
  let turns = 0;
  await until(() => {
    turns += 1;
    return handled.some(({ path }) => path === '/last');
  });
  expect(turns).toBeLessThan(1000);
});

const paths = (): string[] => handled.map(({ path }) => path);

test.each([
  ['CONNECT', CONNECT],
  ['an upgrade', upgrade('/after')],
  ['bytes that are no request', 'garbage\r\n\r\n'],
])(
  'a client that resets its connection while %s waits behind a request ends nothing but that',
  async (_, bytes) => {
    const socket = await send(get('/held') + bytes);
    await until(() => held.length > 0);
    socket.resetAndDestroy();
    await until(() => listeners.unansweredRoutes.length === 0);
    expect(paths()).toEqual(['/held']);
  },
);

test.each([
  ['CONNECT', CONNECT],
  ['an upgrade', upgrade('/after')],
])('the ports close though %s waits behind a response that nobody reads', async (_, bytes) => {
  const socket = await send(get('/large') + bytes);
  socket.pause();
  await until(() => handled.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(listeners.unansweredRoutes).toHaveLength(1);
  await listeners.close();
  expect(paths()).toEqual(['/large']);
});

test.each([
  ['a request', get('/after')],
  ['an upgrade', upgrade('/after')],
])('%s that waited has neither the time limit nor the context of the request before it', async (_, bytes) => {
  await send(get('/held') + bytes);
  await until(() => held.length > 0);
  held[0]?.();
  await until(() => handled.length === 2);
  expect(handled[1]).toEqual({ path: '/after', timeout: 0, within: undefined });
});

test.each([
  ['a request', get('/after')],
  ['an upgrade', upgrade('/after')],
])('%s behind a response that ends the connection is not handled', async (_, bytes) => {
  const socket = await send(get('/last') + bytes);
  socket.resume();
  await once(socket, 'close');
  expect(paths()).toEqual(['/last']);
});

test('a WebSocket waits for the responses before it', async () => {
  const taken: string[] = [];
  listeners.onUpgrade((_profile, { url }, socket) => {
    taken.push(url ?? '');
    socket.on('error', () => undefined).end();
  });
  await send(get('/held') + get('/ws', 'Connection: upgrade\r\nUpgrade: websocket\r\n'));
  await until(() => held.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(taken).toEqual([]);
  held[0]?.();
  await until(() => taken.length > 0);
});

test('the ports close though a WebSocket does not', async () => {
  let taken: Socket | undefined;
  listeners.onUpgrade((_profile, _request, socket) => {
    taken = socket.on('error', () => undefined);
  });
  await send(get('/ws', 'Connection: upgrade\r\nUpgrade: websocket\r\n'));
  await until(() => taken !== undefined);
  await listeners.close();
  expect(taken?.destroyed).toBe(true);
});

test('a client that sends too much, a little at a time, gets every response and then its refusal', async () => {
  const socket = await send(get('/held') + get('/after').repeat(101));
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await until(() => held.length > 0);
  for (let time = 0; time < 6; time += 1) {
    socket.write(get('/more').repeat(30));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  held[0]?.();
  await once(socket, 'end');
  expect(statusesIn(text)).toEqual([...Array<string>(101).fill('200'), '400']);
  expect(new Set(paths())).toEqual(new Set(['/held', '/after']));
});

test('bodies that wait for an earlier response may have 256 KiB together', async () => {
  const post = (path: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 16000\r\n\r\n${'x'.repeat(16_000)}`;
  const socket = await send(get('/held') + post('/after').repeat(16));
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await until(() => held.length > 0);
  socket.write(post('/more'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  held[0]?.();
  await once(socket, 'end');
  expect(statusesIn(text)).toEqual([...Array<string>(17).fill('200'), '400']);
  expect(paths()).not.toContain('/more');
});
