import { getEventListeners } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silentLogs } from '../logging/logger.js';
import { FixedSettings } from '../settings/settings.js';
import { settingsSchema } from '../settings/settings.schema.js';
import { AddressGuard } from './address-guard.js';
import { Egress } from './egress.js';
import { NameResolver } from './name-resolver.js';
import { OutboundFailed, OutboundRefused } from './outbound.errors.js';
import { Deadline, OutboundClient } from './outbound-client.js';

/** A name server that a test writes, one answer a question; the last one stays. */
class ScriptedNames extends NameResolver {
  asked = 0;

  constructor(private readonly answers: string[][]) {
    super();
  }

  async addressesOf(): Promise<readonly string[]> {
    this.asked += 1;
    return (this.answers.length > 1 ? this.answers.shift() : this.answers[0]) ?? [];
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let port: number;
let connections = 0;
let handler: Handler;
const clients: OutboundClient[] = [];

beforeAll(async () => {
  server = createServer((request, response) => handler(request, response));
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  connections = 0;
  handler = (_request, response) => response.end('hello');
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.onApplicationShutdown()));
  server.closeAllConnections();
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

function client(
  networks: string[],
  names: NameResolver = new ScriptedNames([['127.0.0.1']]),
  egress: Egress = Egress.direct(),
): OutboundClient {
  const settings = new FixedSettings(
    settingsSchema.parse({ security: { allow_private_networks: networks, allow_loopback: 'never' } }),
  );
  const made = new OutboundClient(new AddressGuard(settings, names), silentLogs, egress);
  clients.push(made);
  return made;
}

/** Whether the server has no open connection within three seconds. */
async function connectionsClose(): Promise<boolean> {
  for (let look = 0; look < 60; look += 1) {
    const open = await new Promise<number>((resolve) => server.getConnections((_e, n) => resolve(n)));
    if (open === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

const strict = new FixedSettings(settingsSchema.parse({ security: { allow_loopback: 'never' } }));
const loopback = ['127.0.0.0/8'];
const get = (url: string) => ({ method: 'GET' as const, url, timeoutMs: 2000 });

test('reads an answer from an allowed network, and keeps the connection for the next', async () => {
  const out = client(loopback);
  for (let call = 0; call < 5; call += 1) {
    const answer = await out.read({ ...get(`http://127.0.0.1:${port}/a?b=c`), maxBytes: 100 });
    expect([answer.status, answer.body.toString()]).toEqual([200, 'hello']);
  }
  expect(connections).toBeLessThan(3);
});

test('sends method, path, headers and body as given', async () => {
  const seen: unknown[] = [];
  handler = (request, response) => {
    request.on('data', (chunk: Buffer) =>
      seen.push(request.method, request.url, request.headers['x-a'], chunk.toString()),
    );
    request.on('end', () => response.writeHead(204).end());
  };
  const call = { ...get(`http://127.0.0.1:${port}/p?q`), method: 'POST' as const };
  const { status } = await client(loopback).send({ ...call, headers: { 'x-a': '1' }, body: 'text' });
  expect([status, ...seen]).toEqual([204, 'POST', '/p?q', '1', 'text']);
});

test.each([
  ['ftp://example.com/', 'scheme'],
  ['file:///etc/passwd', 'scheme'],
  ['gopher://example.com/', 'scheme'],
  ['javascript:alert(1)', 'scheme'],
  ['http://user@example.com/', 'credentials'],
  ['http://:secret@example.com/', 'credentials'],
  ['http://example.com:22/', 'port'],
  ['http://example.com:6379/', 'port'],
  ['https://example.com:25/', 'port'],
  ['not a url', 'url'],
  ['http://', 'url'],
  ['/path', 'url'],
  ['http://127.0.0.1.5.6/', 'url'],
])('%s is refused for its %s', async (url, reason) => {
  await expect(client(loopback).send(get(url))).rejects.toMatchObject({ name: 'OutboundRefused', reason });
});

test('a name is refused when only one of its addresses is private', async () => {
  const names = new ScriptedNames([['93.184.216.34', '127.0.0.1']]);
  await expect(client([], names).send(get(`http://two.example:${port}/`))).rejects.toThrow(OutboundRefused);
  expect(connections).toBe(0);
});

test('a name that leads to an allowed network is called there', async () => {
  const out = client(loopback);
  const { status } = await out.send(get(`http://inside.example:${port}/`));
  expect([status, connections]).toEqual([200, 1]);
});

test('a name that becomes private after it was checked is not connected to', async () => {
  const names = new ScriptedNames([['93.184.216.34'], ['127.0.0.1']]);
  const guard = new AddressGuard(strict, names);
  expect(await guard.addressesOf('rebinding.example')).toEqual(['93.184.216.34']);
  await expect(client([], names).send(get(`http://rebinding.example:${port}/`))).rejects.toThrow(
    OutboundRefused,
  );
  expect([names.asked, connections]).toEqual([2, 0]);
});

test('calls that must be encrypted use plain http for no name, only for an address that the settings name', async () => {
  const call = (url: string) => client(loopback).send({ ...get(url), isEncrypted: true });
  await expect(call(`http://inside.example:${port}/`)).rejects.toMatchObject({ reason: 'plain' });
  expect(connections).toBe(0);
  expect([(await call(`http://127.0.0.1:${port}/`)).status, connections]).toEqual([200, 1]);
  // It gets as far as the handshake.
  await expect(call(`https://inside.example:${port}/`)).rejects.toMatchObject({ reason: 'tls' });
});

test('a redirect is an answer and is not followed', async () => {
  handler = (_request, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${port}/elsewhere` }).end();
  const answer = await client(loopback).send(get(`http://127.0.0.1:${port}/`));
  expect(answer).toMatchObject({ status: 302 });
  expect(connections).toBe(1);
});

test('fetch refuses a redirect, a private address and a forbidden scheme', async () => {
  handler = (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end();
  await expect(client(loopback).fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow(OutboundFailed);
  await expect(client([]).fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow(OutboundRefused);
  await expect(client([]).fetch(`http://inside.example:${port}/`)).rejects.toThrow(OutboundRefused);
  await expect(client([]).fetch('file:///etc/passwd')).rejects.toThrow(OutboundRefused);
  expect(connections).toBe(1);
});

test('an answer past the size limit is cut off', async () => {
  handler = (_request, response) => response.end('x'.repeat(200_000));
  const call = client(loopback).read({ ...get(`http://127.0.0.1:${port}/`), maxBytes: 1000 });
  await expect(call).rejects.toMatchObject({ reason: 'too_large' });
});

test('a status counts even if the body never ends, and the connection is closed', async () => {
  handler = (_request, response) => response.writeHead(200).write('x');
  const answer = await client(loopback).send({ ...get(`http://127.0.0.1:${port}/`), timeoutMs: 200 });
  expect(answer.status).toBe(200);
  await expect(connectionsClose()).resolves.toBe(true);
});

test.each([
  ['timeout', () => undefined],
  ['connection_reset', (_request: IncomingMessage, response: ServerResponse) => response.destroy()],
])('a receiver that does nothing but %s is reported as such', async (reason, behaviour) => {
  handler = behaviour;
  const call = client(loopback).send({ ...get(`http://127.0.0.1:${port}/`), timeoutMs: 200 });
  await expect(call).rejects.toMatchObject({ name: 'OutboundFailed', reason });
});

test('a closed port is reported as such, and so is an abort', async () => {
  await expect(client(loopback).send(get('http://127.0.0.1:4/'))).rejects.toMatchObject({
    reason: 'connection_refused',
  });
  const abort = new AbortController();
  handler = () => abort.abort();
  const call = client(loopback).send({ ...get(`http://127.0.0.1:${port}/`), signal: abort.signal });
  await expect(call).rejects.toMatchObject({ reason: 'aborted' });
});

test('a name without an address is not found', async () => {
  const call = client(loopback, new ScriptedNames([[]])).send(get(`http://empty.example:${port}/`));
  await expect(call).rejects.toMatchObject({ name: 'OutboundFailed', reason: 'name_not_resolved' });
  expect(connections).toBe(0);
});

test("a fetch that its caller aborts fails with the caller's reason", async () => {
  const abort = new AbortController();
  handler = () => abort.abort(new Error('nobody waits any more'));
  const { signal } = abort;
  const call = client(loopback).fetch(`http://127.0.0.1:${port}/`, { signal });
  await expect(call).rejects.toThrow('nobody waits any more');
});

test('the reason is whichever came first, and it is reported once', async () => {
  const abort = new AbortController();
  const deadline = new Deadline(5, abort.signal);
  let told = 0;
  deadline.on('abort', () => (told += 1));
  abort.abort();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([deadline.reason?.reason, told]).toEqual(['aborted', 1]);
  deadline.clear();
});

test('a caller that has already aborted does not wait', () => {
  const deadline = new Deadline(60_000, AbortSignal.abort());
  expect([deadline.aborted, deadline.reason?.reason]).toEqual([true, 'aborted']);
  deadline.clear();
});

test('once it is cleared it has no effect any more', async () => {
  const abort = new AbortController();
  const deadline = new Deadline(5, abort.signal);
  deadline.clear();
  abort.abort();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([deadline.aborted, deadline.reason]).toEqual([false, undefined]);
});

test('many calls at once may share a signal, and leave nothing on it', () => {
  const { signal } = new AbortController();
  const deadlines = Array.from({ length: 50 }, () => new Deadline(60_000, signal));
  expect(getEventListeners(signal, 'abort')).toHaveLength(50);
  // Here Node notes whether it has warned of a leak; the warning itself does not reach a test.
  const warned = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'events.maxEventTargetListenersWarned',
  );
  expect(warned === undefined ? 'unknown' : Reflect.get(signal, warned)).toBe(false);
  for (const deadline of deadlines) deadline.clear();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
