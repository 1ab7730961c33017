import { ServiceUnavailableException } from '@nestjs/common';
import { HealthCheckService } from '@nestjs/terminus';
import { Readiness } from '../../src/platform/lifecycle/readiness.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { PROFILES } from './support/faces.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.stop());

const UP = { status: 'up' };
/** Longer than the state of the database is cached. */
const untilAskedAgain = () => new Promise((resolve) => setTimeout(resolve, 300));

test('the probes need no token and answer JSON that names every part', async () => {
  expect(await gateway.operations.get('/livez')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(await gateway.operations.get('/startupz')).toMatchObject({ status: 200, body: { status: 'ok' } });
  const parts = { gateway: UP, database: UP, migrations: UP };
  const { status, body } = await gateway.operations.get('/readyz');
  expect([status, body]).toEqual([200, { status: 'ok', info: parts, error: {}, details: parts }]);
});

test('every health endpoint of both profiles is a view of what the health check found', async () => {
  const health = gateway.started.app.get(HealthCheckService, { strict: false });
  const report = { status: 'error', info: {}, error: { a: { status: 'down' } }, details: {} };
  jest.spyOn(health, 'check').mockRejectedValue(new ServiceUnavailableException(report));
  const told = await Promise.all([
    gateway.operations.get('/livez'),
    gateway.operations.get('/readyz'),
    gateway.a.get('/health'),
    gateway.b.get('/status/health'),
  ]);
  expect(told.map(({ status, body }) => ({ status, body }))).toMatchObject([
    { status: 503, body: { status: 'error' } },
    { status: 503, body: report },
    { status: 503, body: { status: 'unhealthy' } },
    { status: 503, body: { healthy: false } },
  ]);
});

test('a process that shuts down is still alive', async () => {
  const health = gateway.started.app.get(HealthCheckService, { strict: false });
  const report = { status: 'shutting_down', info: {}, error: {}, details: {} };
  jest.spyOn(health, 'check').mockRejectedValue(new ServiceUnavailableException(report));
  expect(await gateway.operations.get('/livez')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect((await gateway.operations.get('/readyz')).status).toBe(503);
});

test('until the start is over, its probe says so', async () => {
  jest.spyOn(gateway.started.app.get(Readiness), 'hasStarted', 'get').mockReturnValue(false);
  const { status, body } = await gateway.operations.get('/startupz');
  expect([status, body]).toEqual([503, { status: 'starting' }]);
});

test('a mistake of ours is not told as a reason for not being ready, but as all mistakes are, and logged', async () => {
  const health = gateway.started.app.get(HealthCheckService, { strict: false });
  jest.spyOn(health, 'check').mockRejectedValue(new TypeError('this must not be told'));
  const { status, text } = await gateway.operations.get('/readyz');
  expect(status).toBe(500);
  expect(text).not.toContain('this must not be told');
  expect(gateway.logLines.join('')).toContain('this must not be told');
});

test('a migration that has not run makes a replica not ready, in every profile, and says so', async () => {
  const [taken] = await gateway.database.query<{ id: number; timestamp: string; name: string }>(
    `DELETE FROM schema_migrations WHERE name LIKE 'CreateTokens%' RETURNING *`,
  );
  await untilAskedAgain();
  const { status, body } = await gateway.operations.get<{ error: object }>('/readyz');
  const reason = expect.stringMatching(/^1 of \d+ migrations have not run$/) as unknown;
  expect([status, body.error]).toEqual([503, { migrations: { status: 'down', reason } }]);
  expect((await gateway.operations.get('/livez')).status).toBe(200);
  expect((await gateway.a.get('/health')).status).toBe(503);
  expect((await gateway.b.get('/status/health')).body).toEqual({ healthy: false });
  await gateway.database.query('INSERT INTO schema_migrations (timestamp, name) VALUES ($1, $2)', [
    taken?.timestamp,
    taken?.name,
  ]);
  await untilAskedAgain();
  expect((await gateway.operations.get('/readyz')).status).toBe(200);
});

test('a tool server or a provider that fails does not make a replica unready', async () => {
  const failing = await startTestGateway({
    database: gateway.database,
    env: {
      GATEWAY__MCP__SERVERS__GONE__COMMAND: '/nonexistent',
      GATEWAY__PROVIDER__KIND: 'openai',
      GATEWAY__PROVIDER__API_KEY: 'sk-nothing',
      GATEWAY__PROVIDER__BASE_URL: 'http://127.0.0.1:1/v1',
    },
  });
  expect((await failing.operations.get('/readyz')).status).toBe(200);
  for (const profile of PROFILES) expect((await failing[profile].get('/sessions')).status).toBe(200);
  await failing.stop();
});

test('a replica has one name: in its log lines, in its metrics, on the turns that it runs', async () => {
  const { text } = await gateway.operations.get('/metrics');
  const names = [...text.matchAll(/^agent_gateway_replica_info\{replica_id="([^"]+)".*\} 1$/gm)].map(
    ([, id]) => id,
  );
  const session = (await gateway.b.post<{ id: string }>('/sessions', {})).body.id;
  await gateway.b.post(`/sessions/${session}/messages`, { content: 'Hello' });
  const [turn] = await gateway.database.query<{ owner: string }>('SELECT owner FROM turns');
  expect(names).toContain(turn?.owner);
  expect(gateway.logLines.length).toBeGreaterThan(0);
  for (const line of gateway.logLines) expect(JSON.parse(line)).toHaveProperty('replica_id', turn?.owner);
});
