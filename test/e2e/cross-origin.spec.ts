import { WebSocket } from 'ws';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const PAGE = 'https://chat.example.com';
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__GATEWAY__CORS_ORIGINS: PAGE } });
});
afterAll(() => gateway.stop());

const url = (path: string, profile: 'a' | 'b' = 'b') =>
  `http://127.0.0.1:${gateway.started.ports[profile]}${path}`;

const preflight = (origin: string, path = '/api/v1/sessions') =>
  fetch(url(path), {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, idempotency-key',
    },
  });

test('a page that is named may ask first, without a token, and then call and read', async () => {
  const asked = await preflight(PAGE);
  expect(asked.status).toBe(204);
  expect(asked.headers.get('access-control-allow-origin')).toBe(PAGE);
  expect(asked.headers.get('access-control-allow-headers')).toBe(
    'authorization, content-type, idempotency-key',
  );
  expect(asked.headers.get('access-control-allow-credentials')).toBeNull();
  for (const profile of ['a', 'b'] as const) {
    const called = await fetch(url('/api/v1/sessions', profile), {
      method: 'POST',
      headers: { origin: PAGE, authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(called.status).toBe(201);
    expect(called.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(called.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
    expect(called.headers.get('vary')?.toLowerCase()).toContain('origin');
  }
  // A page must also be able to read errors.
  const refused = await fetch(url('/api/v1/sessions'), { headers: { origin: PAGE } });
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, PAGE]);
});

test('any other page gets no permission, and by default no page does', async () => {
  const closed = await startTestGateway();
  try {
    for (const [port, origin] of [
      [gateway.started.ports.b, 'https://evil.example.com'],
      [gateway.started.ports.b, 'https://chat.example.com.evil.org'],
      [gateway.started.ports.b, 'null'],
      [closed.started.ports.b, PAGE],
      [gateway.started.ports.operations, PAGE],
    ] as const) {
      for (const method of ['OPTIONS', 'GET']) {
        const { headers } = await fetch(`http://127.0.0.1:${port}/api/v1/sessions`, {
          method,
          headers: { origin },
        });
        expect([origin, headers.get('access-control-allow-origin')]).toEqual([origin, null]);
      }
    }
    expect((await preflight('https://evil.example.com')).status).toBe(401);
  } finally {
    await closed.stop();
  }
});

test('origins change while the gateway runs, and what is no origin is refused', async () => {
  for (const wrong of ['*', 'chat.example.com', 'https://chat.example.com/', 'https://Chat.example.com']) {
    const { status } = await gateway.b.patch('/config', { 'gateway.cors_origins': [wrong] });
    expect([wrong, status]).toEqual([wrong, 400]);
  }
  const second = 'http://localhost:5173';
  expect((await preflight(second)).status).toBe(401);
  await gateway.b.patch('/config', { 'gateway.cors_origins': [PAGE, second] });
  expect((await preflight(second)).status).toBe(204);
});

test('a WebSocket of a foreign page is 403; of a named one, of the gateway itself and of a program it opens', async () => {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
  const open = (origin: string | undefined): Promise<number> =>
    new Promise((resolve) => {
      const socket = new WebSocket(url(`/ws/sessions/${body.id}`).replace('http', 'ws'), {
        headers: { authorization: `Bearer ${gateway.token}`, ...(origin === undefined ? {} : { origin }) },
      });
      socket.once('open', () => {
        socket.close();
        resolve(101);
      });
      socket.once('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode));
      socket.on('error', () => undefined);
    });
  expect(await open('https://evil.example.com')).toBe(403);
  expect(await open('null')).toBe(403);
  expect(await open(PAGE)).toBe(101);
  expect(await open(url(''))).toBe(101);
  expect(await open(undefined)).toBe(101);
});
