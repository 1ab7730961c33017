import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { sessionsFirst } from './route-order.js';

describe('the order in which routes are tried', () => {
  it('starts with those of sessions, in their own order, after what every request passes', async () => {
    const server = express();
    const passed: string[] = [];
    server.use((_request, _response, next) => {
      passed.push('middleware');
      next();
    });
    for (const path of [
      '/api/v1/agents',
      '/api/v1/sessions/closed',
      '/api/v1/agents/:id',
      '/api/v1/sessions/:id',
    ])
      server.get(path, (request, response) => void response.json([path, request.params]));
    server.get('/*path', (_request, response) => void response.json('everything else'));

    sessionsFirst(server);

    const paths = server.router.stack.map(({ route }) => route?.path);
    expect(paths).toEqual([
      undefined,
      '/api/v1/sessions/closed',
      '/api/v1/sessions/:id',
      '/api/v1/agents',
      '/api/v1/agents/:id',
      '/*path',
    ]);
    const listener = server.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const get = async (path: string): Promise<unknown> =>
      (await fetch(`http://127.0.0.1:${port}${path}`)).json();
    expect(await get('/api/v1/sessions/closed')).toEqual(['/api/v1/sessions/closed', {}]);
    expect(await get('/api/v1/sessions/7')).toEqual(['/api/v1/sessions/:id', { id: '7' }]);
    expect(await get('/api/v1/agents/7')).toEqual(['/api/v1/agents/:id', { id: '7' }]);
    expect(await get('/api/v1/sessions')).toBe('everything else');
    expect(passed).toHaveLength(4);
    listener.closeAllConnections();
    listener.close();
  });

  it('does not change without routes', () => {
    const server = express();
    server.use((_request, _response, next) => next());
    sessionsFirst(server);
    expect(server.router.stack).toHaveLength(1);
  });
});
