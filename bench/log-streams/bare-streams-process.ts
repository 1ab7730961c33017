import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveHelper } from '../harness/serve-helper.js';

export interface BareStreamsConfig {
  /** What each reader gets five times a second. */
  readonly chunk: string;
}

const PERIOD_MS = 200;

/** The minimum cost of streaming: prepared bytes, written to all readers at once. */
await serveHelper(async ({ chunk }: BareStreamsConfig) => {
  const readers = new Set<ServerResponse>();
  const bytes = Buffer.from(chunk);
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(': hello\n\n');
    readers.add(response);
    response.once('close', () => readers.delete(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  setInterval(() => {
    for (const reader of readers) reader.write(bytes);
  }, PERIOD_MS);
  return { ready: { port: (server.address() as AddressInfo).port } };
});
