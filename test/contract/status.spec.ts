import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { expectError } from './support/envelope.js';
import { anInteger, ISO_UTC, newSession, sortedKeys, type Wire } from './support/faces.js';

const aText = expect.stringMatching(/./) as unknown;
const FIELDS_OF_2_8 = {
  status: 'healthy',
  version: expect.stringMatching(/^\d+\.\d+\.\d+/) as unknown,
  uptime_secs: anInteger,
  active_sessions: anInteger,
  channels: { connected: 1, total: 1 },
  plugins: { loaded: 0, total: 0 },
  memory: { backend: 'postgres', entries: 0 },
  provider: { name: 'offline', model: aText },
};

let gateway: TestGateway;
let open: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  open = await startTestGateway({
    database: gateway.database,
    env: { GATEWAY__GATEWAY__METRICS_PUBLIC: 'true' },
  });
});
afterAll(async () => {
  await open.stop();
  await gateway.stop();
});

test('4.1 | GET | /health | none; no authentication | 200; health object', async () => {
  const { status, body } = await gateway.caller('a', undefined).get<Wire>('/health');
  expect([status, sortedKeys(body)]).toEqual([200, ['status', 'uptime_secs', 'version']]);
  expect(body['status']).toBe('healthy');
  expect(body['version']).toMatch(/^\d+\.\d+\.\d+/);
  expect(Number.isInteger(body['uptime_secs'])).toBe(true);
});

test('4.2 | GET | /status/health | none | 200; object with healthy (boolean); intended for load balancer probes', async () => {
  const { status, body } = await gateway.caller('b', undefined).get<Wire>('/status/health');
  expect([status, body]).toEqual([200, { healthy: true }]);
});

test('5 | whoever sends a token to an open path may: a wrong one does not matter there', async () => {
  expect((await gateway.caller('a', 'agw_wrong').get('/health')).status).toBe(200);
  expect((await gateway.caller('b', 'agw_wrong').get('/status/health')).status).toBe(200);
});

test('4.1 | GET | /info | none | 200; info object', async () => {
  const { status, body } = await gateway.a.get<Wire>('/info');
  expect(status).toBe(200);
  expect(sortedKeys(body)).toEqual([
    'active_channels',
    'active_sessions',
    'build',
    'default_model',
    'default_provider',
    'memory_backend',
    'plugins_loaded',
    'sandbox_backend',
    'version',
  ]);
  expect(body['build']).toMatch(ISO_UTC);
  expect(body['default_provider']).toBe('offline');
  for (const key of ['active_sessions', 'active_channels', 'plugins_loaded'])
    expect([key, Number.isInteger(body[key])]).toEqual([key, true]);
  expect(body['memory_backend']).toBe('postgres');
  expect(['bubblewrap', 'none']).toContain(body['sandbox_backend']);
  expect([typeof body['version'], typeof body['default_model']]).toEqual(['string', 'string']);
});

test('4.2 | GET | /status | none | 200; system status', async () => {
  const { status, body } = await gateway.b.get<Wire>('/status');
  expect([status, sortedKeys(body)]).toEqual([200, Object.keys(FIELDS_OF_2_8).sort()]);
  expect(body).toEqual(FIELDS_OF_2_8);
});

test.each<[row: string, field: keyof typeof FIELDS_OF_2_8]>([
  ['2.8 | status | String', 'status'],
  ['2.8 | version | String', 'version'],
  ['2.8 | uptime_secs | integer', 'uptime_secs'],
  ['2.8 | active_sessions | integer', 'active_sessions'],
  ['2.8 | channels | object: connected (integer), total (integer)', 'channels'],
  ['2.8 | plugins | object: loaded (integer), total (integer)', 'plugins'],
  ['2.8 | memory | object: backend (String), entries (integer)', 'memory'],
  ['2.8 | provider | object: name (String), model (String)', 'provider'],
])('%s', async (_row, field) => {
  const { body } = await gateway.b.get<Wire>('/status');
  expect(body[field]).toEqual(FIELDS_OF_2_8[field]);
});

test('9 | version | the same String in health, info and status', async () => {
  const answers = await Promise.all([
    gateway.a.get<Wire>('/health'),
    gateway.a.get<Wire>('/info'),
    gateway.b.get<Wire>('/status'),
  ]);
  const versions = new Set(answers.map(({ body }) => body['version']));
  expect(versions.size).toBe(1);
});

describe('4.1 | GET | /metrics | none | 200, content type text/plain; metrics in a text exposition format with HELP and TYPE comment lines', () => {
  test('200, content type text/plain; HELP and TYPE lines; names carry a service-specific prefix', async () => {
    const { status, headers, text } = await gateway.a.get('/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4; charset=utf-8$/);
    expect(text).toMatch(/^# HELP agent_gateway_sessions_active .+$/m);
    expect(text).toMatch(/^# TYPE agent_gateway_sessions_active gauge$/m);
    expect(text).toMatch(/^# HELP agent_gateway_requests_total .+$/m);
    expect(text).toMatch(/^# TYPE agent_gateway_requests_total counter$/m);
  });

  test('a gauge of active sessions', async () => {
    const gauge = async () => {
      const { text } = await gateway.a.get('/metrics');
      return Number(/^agent_gateway_sessions_active (\d+)$/m.exec(text)?.[1]);
    };
    const before = await gauge();
    const id = await newSession(gateway.a);
    expect(await gauge()).toBe(before + 1);
    await gateway.a.delete(`/sessions/${id}`);
    expect(await gauge()).toBe(before);
  });

  test('a counter of total API requests labelled by method and path: templates, never what was asked for', async () => {
    const counted = async () => {
      const { text } = await gateway.a.get('/metrics');
      const labels = 'method="GET",path="/api/v1/sessions/:id"';
      const line = text
        .split('\n')
        .find((one) => one.startsWith('agent_gateway_requests_total') && one.includes(labels));
      return Number(line?.split(' ').at(-1) ?? 0);
    };
    const before = await counted();
    await gateway.a.get('/sessions/sess_peculiar');
    await gateway.b.get('/sessions/sess_peculiar');
    await gateway.a.get('/peculiar');
    expect(await counted()).toBe(before + 2);
    expect((await gateway.a.get('/metrics')).text).not.toContain('peculiar');
  });

  test('5 | needs metrics:read, unless gateway.metrics_public is on', async () => {
    const stranger = gateway.caller('a', undefined);
    expectError('a', await stranger.get('/metrics'), 401, 'unauthorized');
    const reader = gateway.caller('a', await gateway.mint({ scopes: ['metrics:read'] }));
    expect((await reader.get('/metrics')).status).toBe(200);
    const other = gateway.caller('a', await gateway.mint({ scopes: ['status:read'] }));
    expectError('a', await other.get('/metrics'), 403, 'forbidden');
    expect((await open.caller('a', undefined).get('/metrics')).status).toBe(200);
    expectError('a', await open.caller('a', undefined).get('/info'), 401, 'unauthorized');
  });
});
