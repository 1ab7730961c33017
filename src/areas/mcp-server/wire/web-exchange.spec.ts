import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import express from 'express';
import { eventually } from '../../../../test/harness/eventually.js';
import { goneSignal, sendWebResponse } from './web-exchange.js';

const CHUNK = Buffer.alloc(1_048_576, 'x');
/** Together more than the kernel buffers for a caller that reads nothing. */
const CHUNKS = 16;

let late: AbortController;
let limits: Set<number>;
let made: number;
let gone: AbortSignal;
const app = express();
app.get('/', (_request, response) => {
  gone = goneSignal(response);
  const body = new ReadableStream<Uint8Array>({
    pull: (stream) => {
      made += 1;
      stream.enqueue(CHUNK);
      if (made === CHUNKS) stream.close();
    },
  });
  return sendWebResponse(new Response(body), response);
});
const server = createServer(app);
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  [late, limits, made] = [new AbortController(), new Set(), 0];
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    limits.add(ms);
    return late.signal;
  });
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** A caller that has the head, and has read nothing of the body yet. */
async function caller(): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const [message] = (await once(get({ port }), 'response')) as [IncomingMessage];
  return message;
}

test('a caller that reads nothing for 30 seconds is cut, counts as gone, and no more is made for it', async () => {
  const message = await caller();
  await eventually(() => expect([...limits]).toEqual([30_000]));
  expect(gone.aborted).toBe(false);
  late.abort();
  await eventually(() => expect(gone.aborted).toBe(true));
  expect(made).toBeLessThan(CHUNKS);
  await expect(text(message)).rejects.toThrow('aborted');
});

test('one that reads gets the whole response, and has not gone', async () => {
  const message = await caller();
  expect(await text(message)).toHaveLength(CHUNKS * CHUNK.length);
  expect(gone.aborted).toBe(false);
});
