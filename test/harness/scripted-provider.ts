import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ScriptedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  /** The body as received. */
  readonly text: string;
}

/** How to answer the next request: the test writes to `response` as it likes. */
export type Script = (response: ServerResponse, request: ScriptedRequest) => void | Promise<void>;

export interface ScriptedProvider {
  readonly url: string;
  readonly requests: readonly ScriptedRequest[];
  /** The number of open connections. */
  openSockets(): number;
  /** Closes idle keep-alive connections. */
  closeUnused(): void;
  /** The number of connections accepted so far. */
  madeSockets(): number;
  /** One script for each request; the last one answers all further requests. */
  script(...scripts: Script[]): void;
  stop(): Promise<void>;
}

/** A model provider on loopback that sends exactly what a test writes, byte by byte if needed. */
export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const requests: ScriptedRequest[] = [];
  const sockets = new Set<Socket>();
  let made = 0;
  let scripts: Script[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const seen = {
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(text || '{}') as Record<string, unknown>,
        text,
      };
      requests.push(seen);
      const next = scripts.length > 1 ? scripts.shift() : scripts[0];
      void next?.(response, seen);
    });
  });
  server.on('connection', (socket) => {
    made += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    openSockets: () => sockets.size,
    closeUnused: () => server.closeIdleConnections(),
    madeSockets: () => made,
    script: (...given) => {
      scripts = given;
      requests.length = 0;
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Begins an event stream and writes these events, each a JSON body or a ready frame. Leaves the stream open. */
export function beginStream(response: ServerResponse, ...events: (object | string)[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(frame(event));
}

export function frame(event: object | string): string {
  if (typeof event === 'string') return event;
  const name = 'type' in event ? `event: ${String(event.type)}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
