import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SseResponse } from './sse-response.js';

const MANY = 'x'.repeat(8 * 1024 * 1024);

let shown: Promise<SseResponse>;
let port: number;
const server = createServer();
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** A reader that has the head and has read nothing of the body yet. */
async function reader(): Promise<IncomingMessage> {
  shown = once(server, 'request').then(([, response]) => {
    const stream = new SseResponse(response as ServerResponse);
    stream.begin({ opening: 'retry: 1000\n\n' });
    return stream;
  });
  const [message] = (await once(get({ host: '127.0.0.1', port }), 'response')) as [IncomingMessage];
  return message;
}

test('it is an event stream that proxies pass on as it arrives', async () => {
  const message = await reader();
  const stream = await shown;
  stream.write('data: one\n\n');
  stream.end(': over\n');
  expect(message.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  expect(await text(message)).toBe('retry: 1000\n\ndata: one\n\n: over\n');
});

test('a reader that takes what is on its way lets the writer continue; one that does not is given up', async () => {
  const message = await reader();
  const stream = await shown;
  stream.write(MANY);
  expect(stream.pendingBytes).toBeGreaterThan(0);
  await expect(stream.drained({ stallMs: 50 })).rejects.toThrow();
  message.resume();
  await stream.drained({ stallMs: 60_000 });
  expect(stream.pendingBytes).toBe(0);
  stream.end();
});

test('a heartbeat is sent only when nothing else is on its way', async () => {
  const message = await reader();
  const stream = await shown;
  stream.heartbeat(': one\n');
  stream.write(MANY);
  stream.heartbeat(': two\n');
  stream.end();
  const all = await text(message);
  expect([all.includes(': one\n'), all.includes(': two\n')]).toEqual([true, false]);
});

test('heartbeats end with the connection', async () => {
  const message = await reader();
  const stream = await shown;
  const beats = jest.spyOn(stream, 'heartbeat');
  stream.beatEvery(5, ': beat\n');
  while (!String((await once(message, 'data'))[0]).includes(': beat\n'));
  message.destroy();
  while (!stream.isClosed) await new Promise(setImmediate);
  const before = beats.mock.calls.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(beats).toHaveBeenCalledTimes(before);
});

test('a cut stream does not look complete to its reader, who has what was written before', async () => {
  const message = await reader();
  const stream = await shown;
  stream.write('data: one\n\n');
  stream.cut(': stalled\n');
  let read = '';
  const reading = (async () => {
    for await (const piece of message) read += String(piece);
  })();
  await expect(reading).rejects.toThrow('aborted');
  expect(read).toBe('retry: 1000\n\ndata: one\n\n: stalled\n');
});
