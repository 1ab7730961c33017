import { spawnSync } from 'node:child_process';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__RATE_LIMITS__CONFIG_WRITE: '1' } });
  const { body } = await gateway.a.post<{ session_id: string }>('/sessions', {});
  await gateway.a.post(`/sessions/${body.session_id}/messages`, { content: 'Hello' });
  await Promise.all(Array.from({ length: 8 }, () => gateway.b.patch('/config', {})));
});
afterAll(() => gateway.stop());

const scrape = async (): Promise<string> => (await gateway.operations.get<string>('/metrics')).text;

/** The value of the one sample that starts with this text. */
async function sample(start: string): Promise<number | undefined> {
  const line = (await scrape()).split('\n').find((text) => text.startsWith(start));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

test('a turn is counted and timed, with what the model used', async () => {
  expect(await sample('agent_gateway_turns_total{outcome="completed"')).toBeGreaterThanOrEqual(1);
  expect(
    await sample('agent_gateway_turn_duration_seconds_count{outcome="completed"'),
  ).toBeGreaterThanOrEqual(1);
  expect(await sample('agent_gateway_turn_first_token_seconds_count')).toBeGreaterThanOrEqual(1);
  expect(await sample('agent_gateway_turns_running')).toBe(0);
  expect(
    await sample('agent_gateway_provider_calls_total{provider="offline",outcome="success"'),
  ).toBeGreaterThanOrEqual(1);
  expect(
    await sample('agent_gateway_provider_tokens_total{provider="offline",direction="output"'),
  ).toBeDefined();
});

test('channels, refused requests and the database pool have metrics', async () => {
  expect(await sample('agent_gateway_channel_status{channel="api",status="connected"')).toBe(1);
  expect(await sample('agent_gateway_rate_limited_total{tier="config_write"')).toBeGreaterThanOrEqual(1);
  expect(await sample('agent_gateway_database_connections{state="idle"')).toBeGreaterThanOrEqual(1);
  expect(await sample('agent_gateway_database_waiting_requests')).toBeDefined();
  expect(await sample('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
});

test('an idle replica has no statement waiting, however often it is scraped', async () => {
  const seen = await Promise.all(
    Array.from({ length: 5 }, () => sample('agent_gateway_database_waiting_requests')),
  );
  for (let look = 0; look < 10; look++) seen.push(await sample('agent_gateway_database_waiting_requests'));
  expect(Math.min(...seen.map(Number))).toBe(0);
  expect(seen.slice(5)).toEqual(Array.from({ length: 10 }, () => 0));
});

test('the name of a metric shows whether it is a counter', async () => {
  const kinds = [...(await scrape()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => ({
    name,
    kind,
  }));
  expect(kinds.length).toBeGreaterThan(30);
  expect(kinds.filter(({ name, kind }) => name?.endsWith('_total') !== (kind === 'counter'))).toEqual([]);
});

const promtool = spawnSync('promtool', ['--version']).status === 0;
(promtool ? test : test.skip)(
  'promtool finds nothing wrong with them, on the operations port and in Profile A',
  async () => {
    const { text } = await gateway.a.get<string>('/metrics');
    for (const input of [await scrape(), text]) {
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input,
        encoding: 'utf8',
      });
      expect([status, stdout, stderr]).toEqual([0, '', '']);
    }
  },
);
