import { once } from 'node:events';
import { connect } from 'node:net';
import express from 'express';
import type { Settings } from '../platform/settings/settings.js';
import { STALLED_MS } from './listeners/listener-server.js';
import { forBrowsers } from './middleware.js';

test.each(['identity', 'gzip', 'br'])(
  'a JSON response under %s that nobody reads has a time limit',
  async (encoding) => {
    const settings = { current: { gateway: { cors_origins: [] } } } as unknown as Settings;
    const app = express().use(forBrowsers(settings));
    const noise = Array.from({ length: 500_000 }, () => Math.random());
    let limit: () => number | undefined = () => undefined;
    app.get('/', (request, response) => {
      limit = () => request.socket.timeout;
      // As the listener does once a response is complete.
      response.once('prefinish', () => response.setTimeout(STALLED_MS));
      response.json(noise);
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.pause().write(`GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${encoding}\r\n\r\n`);
    while (limit() === undefined || limit() === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(limit()).toBe(STALLED_MS);
    socket.destroy();
    server.close();
  },
  10_000,
);
