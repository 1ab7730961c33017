import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createExpressServer, cutWhenStalled } from './listener-server.js';

/** More than the kernel buffers for a caller that reads nothing. */
const LARGE = Buffer.alloc(20_000_000, 'x');
/** So long that a busy machine does not hold this process up for as long: it would be taken for a caller that stalls. */
const TIMEOUT_MS = 1000;
/** What a slow reader takes at a time: so much that the kernel lets more of it come. */
const STEP_BYTES = 200_000;

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** A caller that reads nothing before it is resumed, and what its server has not finished yet. */
async function asks(path: string): Promise<{ socket: Socket; unanswered: ReadonlySet<ServerResponse> }> {
  const unanswered = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    unanswered.add(response);
    cutWhenStalled(response, TIMEOUT_MS);
    response.once('close', () => unanswered.delete(response));
    if (request.url === '/stream') response.write(LARGE);
    else response.end(LARGE);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  while (unanswered.size === 0) await sleep(5);
  return { socket, unanswered };
}

async function readsToTheEnd(socket: Socket): Promise<number> {
  socket.resume();
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  return socket.bytesRead;
}

test.concurrent('a caller that does not read a finished response is disconnected', async () => {
  const { socket, unanswered } = await asks('/');
  while (unanswered.size > 0) await sleep(5);
  expect(await readsToTheEnd(socket)).toBeLessThan(LARGE.length);
});

test.concurrent('a slow caller gets the whole response, however long it takes', async () => {
  const { socket } = await asks('/');
  const startedAt = performance.now();
  while (performance.now() - startedAt < 3 * TIMEOUT_MS) {
    const enough = socket.bytesRead + STEP_BYTES;
    const read = () => socket.bytesRead >= enough && socket.pause();
    socket.on('data', read).resume();
    await sleep(TIMEOUT_MS / 30);
    socket.off('data', read);
  }
  expect(await readsToTheEnd(socket)).toBeGreaterThan(LARGE.length);
});

test.concurrent('an unfinished response is left alone', async () => {
  const { socket, unanswered } = await asks('/stream');
  await sleep(3 * TIMEOUT_MS);
  expect(unanswered.size).toBe(1);
  socket.destroy();
});

test.concurrent('a body that does not end in time ends its connection', async () => {
  const codes: unknown[] = [];
  const arrival = { requestTimeout: 100, connectionsCheckingInterval: 20 };
  const ended = new Promise<boolean>((resolve) => {
    let hasArrived = false;
    const slow = createExpressServer(
      { IncomingMessage, ServerResponse },
      (request) => {
        hasArrived = true;
        request.resume().once('close', () => resolve(request.complete));
      },
      arrival,
    );
    const ask = () => {
      const socket = connect((slow.address() as AddressInfo).port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf of it');
    };
    slow.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      socket.destroy();
      // A process that stood still for as long has not even read the head.
      if (!hasArrived) return ask();
      codes.push(error.code);
      slow.close();
    });
    slow.listen(0, '127.0.0.1', ask);
  });
  expect(await ended).toBe(false);
  expect(codes).toEqual(['ERR_HTTP_REQUEST_TIMEOUT']);
});
