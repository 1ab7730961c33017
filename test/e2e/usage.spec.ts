import {
  anthropicEnv,
  type CountedAnswer,
  type CountingProvider,
  startCountingProvider,
} from '../harness/counting-provider.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import type { HttpCaller } from '../harness/http-caller.js';

/** docs/money.md; "Rows of usage: the dimensions asked for, `turns`, `input_tokens`, …, `cost_usd`, `unpriced_tokens`". */
interface UsageRow {
  readonly user?: string;
  readonly model?: string;
  readonly day?: string;
  readonly turns: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost_usd: number | null;
  readonly unpriced_tokens: number;
}

let gateway: TestGateway;
let provider: CountingProvider;
let next: (text: string) => CountedAnswer;
const bench = new ProcessBench();

beforeAll(async () => {
  provider = await startCountingProvider((body) => next(JSON.stringify(body['messages'])));
  gateway = await startTestGateway({ env: anthropicEnv(provider) });
  const { status } = await gateway.b.patch('/config', {
    'prices."default/m"': { input: 10, cached_input: 1, cache_write: 12.5, output: 50 },
  });
  expect(status).toBe(200);
});
afterAll(async () => {
  await bench.clear();
  await gateway.stop();
  await provider.stop();
});

async function ask(caller: HttpCaller, user: string, content = 'Hello'): Promise<number> {
  const { body } = await caller.post<{ id: string }>('/sessions', { user_id: user });
  return (await caller.post(`/sessions/${body.id}/messages`, { content })).status;
}

async function usage(query: string, caller = gateway.admin): Promise<readonly UsageRow[]> {
  const { status, body } = await caller.get<{ items: UsageRow[] }>(`/usage?${query}`);
  expect(status).toBe(200);
  return body.items;
}

const of = async (user: string) => (await usage('by=user&limit=500')).find((row) => row.user === user);

test('cached input, cache writes and output are priced apart, and the turn has the same cost as its usage', async () => {
  next = () => ({ plain: 1000, read: 2000, written: 400, output: 100 });
  expect(await ask(gateway.b, 'ada')).toBe(200);
  const cost = (1000 * 10 + 2000 * 1 + 400 * 12.5 + 100 * 50) / 1e6;
  expect(await of('ada')).toEqual({
    user: 'ada',
    turns: 1,
    input_tokens: 3400,
    cached_input_tokens: 2000,
    cache_write_tokens: 400,
    output_tokens: 100,
    reasoning_tokens: 0,
    cost_usd: cost,
    unpriced_tokens: 0,
  });
  const turns = await gateway.database.query<{ cost: number }>(
    `SELECT cost_usd::float8 AS cost FROM turns JOIN sessions ON sessions.id = session_id WHERE user_id = 'ada'`,
  );
  expect(turns).toEqual([{ cost }]);
  const { text } = await gateway.operations.get('/metrics');
  expect(text).toContain('agent_gateway_cost_usd_total{agent="default",provider="default",model="m"}');
});

test('"An unknown price is `null` and counted as unknown, never 0"', async () => {
  next = () => ({ plain: 10, output: 5, model: 'nobody-knows-this-one' });
  await gateway.b.patch('/config', { 'provider.model': 'nobody-knows-this-one' });
  expect(await ask(gateway.b, 'bob')).toBe(200);
  await gateway.b.patch('/config', { 'provider.model': null });
  expect(await of('bob')).toMatchObject({ turns: 1, cost_usd: null, unpriced_tokens: 15 });
  next = () => ({ plain: 10, output: 5 });
  expect(await ask(gateway.b, 'bob')).toBe(200);
  expect(await of('bob')).toMatchObject({
    turns: 2,
    cost_usd: (10 * 10 + 5 * 50) / 1e6,
    unpriced_tokens: 15,
  });
  const byModel = await usage('by=model,user');
  expect(byModel.map(({ model, user }) => [model, user])).toEqual([
    ['m', 'ada'],
    ['m', 'bob'],
    ['nobody-knows-this-one', 'bob'],
  ]);
});

test('a turn that failed costs what its calls used until then', async () => {
  let calls = 0;
  next = () => {
    calls += 1;
    return calls === 1
      ? { plain: 1000, output: 10, tool: 'nothing' }
      : { plain: 0, output: 0, when: new Promise(() => undefined) };
  };
  await gateway.b.patch('/config', { 'agent.turn_timeout_ms': 1500 });
  expect(await ask(gateway.b, 'cal')).toBe(504);
  await gateway.b.patch('/config', { 'agent.turn_timeout_ms': null });
  expect(await of('cal')).toMatchObject({
    turns: 1,
    input_tokens: 1000,
    cost_usd: (1000 * 10 + 10 * 50) / 1e6,
  });
});

test('"bound callers see their own … usage", and pages continue', async () => {
  const bound = gateway.adminCaller(await gateway.mint({ user: 'bob', scopes: ['usage:read'] }));
  expect((await usage('by=user', bound)).map(({ user }) => user)).toEqual(['bob']);
  const first = await gateway.admin.get<{ items: UsageRow[]; next_cursor: string }>('/usage?by=user&limit=1');
  const second = await gateway.admin.get<{ items: UsageRow[] }>(
    `/usage?by=user&limit=1&cursor=${first.body.next_cursor}`,
  );
  expect([first.body.items[0]?.user, second.body.items[0]?.user]).toEqual(['ada', 'bob']);
  expect((await gateway.admin.get('/usage?by=colour')).status).toBe(400);
  expect((await gateway.admin.get('/usage?since=yesterday')).status).toBe(400);
  const without = gateway.adminCaller(await gateway.mint({ scopes: ['sessions:read'] }));
  expect((await without.get('/usage')).status).toBe(403);
});

test('a turn belongs to the day of UTC on which it ended, and an entry counts once, summed up or not', async () => {
  const [before] = await usage('by=day');
  const rows = `SELECT '2026-02-28'::date + n, 'default', 'eve', 't', 'default', 'm', 'api', 1, 10, 0, 0, 1, 0, 0, 0.5 FROM generate_series(0, 1) AS n`;
  await gateway.database.query(
    `INSERT INTO usage_entries (day, agent, user_id, api_token, provider, model, channel, turns, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, unpriced_tokens, cost_usd) ${rows}`,
  );
  const shown = () => usage('by=day&since=2026-02-01&until=2026-03-01');
  const atOnce = await shown();
  expect(atOnce.map(({ day, cost_usd }) => [day, cost_usd])).toEqual([
    ['2026-02-28', 0.5],
    ['2026-03-01', 0.5],
  ]);
  await eventually(async () =>
    expect(await gateway.database.query('SELECT 1 FROM usage_entries')).toEqual([]),
  );
  expect(await shown()).toEqual(atOnce);
  expect((await usage('by=day'))[0]).toEqual(before);
});

test('`agent-gateway usage --by agent,user --since 30d [--csv|--json]` says the same', async () => {
  const env = { DATABASE_URL: gateway.database.url };
  const json = await bench.run(['usage', '--by', 'user', '--since', '30d', '--json'], { env });
  expect((JSON.parse(json.stdout) as { usage: unknown }).usage).toEqual(await usage('by=user'));
  const csv = await bench.run(['usage', '--by', 'agent,user', '--csv'], { env });
  expect(csv.stdout.split('\r\n')[1]).toMatch(/^default,ada,1,3400,2000,400,100,0,0\.022,0$/);
  const table = await bench.run(['usage', '--by', 'agent,user'], { env });
  expect(table.stdout).toContain('AGENT');
  expect(Math.max(...table.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
});

test('"the sums of `usage` equal the sum of turns and the fake provider\'s own count, after kills too (0 difference)"', async () => {
  const [sumBefore] = await usage('');
  const countedBefore = provider.counted.length;
  const requestsBefore = provider.requests.length;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  next = (messages) =>
    messages.includes('tool_result')
      ? { plain: 700, output: 7, when: held }
      : messages.includes('use a tool')
        ? { plain: 1000, output: 10, tool: 'nothing' }
        : { plain: 333, output: 3 };
  const env = {
    DATABASE_URL: gateway.database.url,
    GATEWAY_MASTER_KEY: 'a master key that only tests may use',
    GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
    GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '1000',
    ...anthropicEnv(provider),
  };
  const socketsBefore = provider.openSockets();
  const victim = await bench.serve({ env });
  const { token } = gateway;
  const say = async (content: string): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const post = (path: string, body: object) =>
      fetch(`${victim.b}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const { id } = (await (await post('/sessions', { user_id: 'fay' })).json()) as { id: string };
    await post(`/sessions/${id}/messages`, { content });
  };
  for (let turn = 0; turn < 5; turn += 1) await say('Hello');
  const dying = Array.from({ length: 5 }, () => say('use a tool').catch(() => undefined));
  const results = () =>
    provider.requests.slice(requestsBefore).filter(({ text }) => text.includes('tool_result'));
  await eventually(() => expect(results().length).toBe(5));
  victim.kill('SIGKILL');
  await Promise.all(dying);
  await victim.ended;
  // An answer that the provider sends after its caller has gone would also be counted.
  await eventually(() => expect(provider.openSockets()).toBeLessThanOrEqual(socketsBefore));
  release();
  await eventually(async () => {
    const running = await gateway.database.query(`SELECT 1 FROM turns WHERE status = 'running'`);
    expect(running).toEqual([]);
  }, 60_000);
  const [sum] = await usage('');
  const counted = provider.counted.slice(countedBefore);
  const total = (part: (call: (typeof counted)[number]) => number) =>
    counted.reduce((all, call) => all + part(call), 0);
  expect(sum?.turns).toBe((sumBefore?.turns ?? 0) + 10);
  expect((sum?.input_tokens ?? 0) - (sumBefore?.input_tokens ?? 0)).toBe(total(({ plain }) => plain));
  expect((sum?.output_tokens ?? 0) - (sumBefore?.output_tokens ?? 0)).toBe(total(({ output }) => output));
  const differences = await gateway.database.query(`
    SELECT t.input - u.input AS input, t.output - u.output AS output, t.cost - u.cost AS cost, t.turns - u.turns AS turns
    FROM (SELECT sum(input_tokens) AS input, sum(output_tokens) AS output, sum(cost_usd) AS cost, count(*) AS turns FROM turns) AS t,
      (SELECT sum(input_tokens) AS input, sum(output_tokens) AS output, sum(cost_usd) AS cost, sum(turns) AS turns FROM (
         SELECT input_tokens, output_tokens, cost_usd, turns FROM usage_days WHERE user_id <> 'eve'
         UNION ALL SELECT input_tokens, output_tokens, cost_usd, turns FROM usage_entries) AS all_of_it) AS u`);
  expect(differences.map((row) => Object.values(row as object).map(Number))).toEqual([[0, 0, 0, 0]]);
}, 120_000);
