import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { createTestDatabase } from '../harness/database.js';
import { FaultProxy } from '../harness/fault-proxy.js';
import { ProcessBench, until } from '../harness/gateway-process.js';

const bench = new ProcessBench();
let asked: string[];
let server: Server;
let proxy: FaultProxy;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('x'.repeat(2000));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy = await FaultProxy.to(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
beforeEach(() => {
  asked = [];
});
afterEach(() => proxy.mend());
afterAll(async () => {
  await proxy.cut();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await bench.clear();
});

/** Asks on a new connection. Returns the length of the response, or the error code of the connection. */
async function ask(path: string, limitMs = 5000): Promise<number | string> {
  try {
    const question = get(proxy.url + path, { agent: false, signal: AbortSignal.timeout(limitMs) });
    const [answer] = (await once(question, 'response')) as [IncomingMessage];
    return Buffer.concat(await answer.toArray()).length;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

test('an undisturbed proxy passes everything on; one that is cut refuses, and is mended at the same port', async () => {
  expect(await ask('/whole')).toBe(2000);
  const { url } = proxy;
  await proxy.cut();
  expect(await ask('/cut')).toBe('ECONNREFUSED');
  await proxy.mend();
  expect([proxy.url, await ask('/mended')]).toEqual([url, 2000]);
  expect(asked).toEqual(['/whole', '/mended']);
});

test('what was given to a frozen proxy arrives after the thaw', async () => {
  proxy.freeze();
  const before = proxy.connections;
  const answer = ask('/frozen', 10_000);
  await until(() => proxy.connections > before, 5000);
  expect([await ask('/impatient', 200), asked]).toEqual(['ABORT_ERR', []]);
  proxy.thaw();
  expect(await answer).toBe(2000);
});

test('a half-cut proxy delivers the question and loses the answer', async () => {
  proxy.halfCut();
  expect([await ask('/half', 300), asked]).toEqual(['ABORT_ERR', ['/half']]);
  await proxy.mend();
  expect(await ask('/whole')).toBe(2000);
});

test('a reset ends open connections with an RST, and accepts new ones', async () => {
  proxy.freeze();
  const before = proxy.connections;
  const answer = ask('/reset');
  await until(() => proxy.connections > before, 5000);
  proxy.reset();
  expect(await answer).toBe('ECONNRESET');
  proxy.thaw();
  expect(await ask('/again')).toBe(2000);
});

test('a slow proxy delays each piece, and by its bytes', async () => {
  proxy.slow({ latencyMs: 50, bytesPerSecond: 10_000 });
  const startedAt = performance.now();
  expect(await ask('/slow')).toBe(2000);
  // At least two chunks, and more than 2,000 bytes.
  expect(performance.now() - startedAt).toBeGreaterThan(290);
});

test('a database is reached through it, also one on a unix socket', async () => {
  const database = await createTestDatabase();
  const way = await FaultProxy.to(database.url);
  const client = new Client({ connectionString: way.url });
  client.on('error', () => undefined);
  await client.connect();
  expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  way.reset();
  await expect(client.query('SELECT 1')).rejects.toThrow();
  await way.cut();
  await database.drop();
});

test('where nobody listens the caller is cut off', async () => {
  const nobody = await FaultProxy.to(
    `postgres://nobody@localhost/none?host=${join(await bench.folder(), 'gone')}`,
  );
  const client = new Client({ connectionString: nobody.url });
  client.on('error', () => undefined);
  await expect(client.connect()).rejects.toThrow();
  await nobody.cut();
});
