import { anthropicEnv, type CountingProvider, startCountingProvider } from '../harness/counting-provider.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import type { HttpCaller } from '../harness/http-caller.js';

/** Each call costs a cent: 1,000 input tokens at 10 dollars a million. */
const CALL_USD = 0.01;
const PRICES = { 'prices."default/m"': { input: 10, output: 0 } };

let provider: CountingProvider;
let gateways: TestGateway[] = [];
let receiver: HookReceiver;
let toolRounds = 0;

beforeAll(async () => {
  provider = await startCountingProvider((body) => {
    const asks = JSON.stringify(body['messages']).includes('use tools') && toolRounds > 0;
    if (asks) toolRounds -= 1;
    return { plain: 1000, output: 5, ...(asks && { tool: 'look' }) };
  });
  receiver = await HookReceiver.open();
  const first = await startTestGateway({ env: anthropicEnv(provider) });
  const others = [1, 2].map(() =>
    startTestGateway({ database: first.database, env: anthropicEnv(provider) }),
  );
  gateways = [first, ...(await Promise.all(others))];
  for (const { tools } of gateways)
    tools.register({
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object' },
      run: () => Promise.resolve('seen'),
    });
  await set(PRICES);
});
afterEach(() =>
  set(
    Object.fromEntries(
      ['all', 'users', 'each_user', 'agents', 'each_agent', 'api_tokens', 'each_api_token'].map((key) => [
        `limits.${key}`,
        null,
      ]),
    ),
  ),
);
afterAll(async () => {
  for (const gateway of gateways.reverse()) await gateway.stop();
  await receiver.close();
  await provider.stop();
});

const one = (): TestGateway => gateways[0] as TestGateway;

/** Sets keys and waits until every replica has them. */
async function set(keys: Record<string, unknown>): Promise<void> {
  const { status, text } = await one().b.patch('/config', keys);
  expect([status, text]).toEqual([200, expect.any(String)]);
  const [expected] = await Promise.all([one().b.get<Record<string, unknown>>('/config')]);
  for (const { b } of gateways)
    await eventually(async () => {
      const { body } = await b.get<Record<string, unknown>>('/config');
      for (const section of ['limits', 'prices']) expect(body[section]).toEqual(expected.body[section]);
    });
}

async function session(caller: HttpCaller, user?: string): Promise<string> {
  const { body } = await caller.post<{ id: string }>(
    '/sessions',
    user === undefined ? {} : { user_id: user },
  );
  return body.id;
}

interface Said {
  readonly status: number;
  readonly reason: string | undefined;
  readonly retryAfter: number;
}

async function say(caller: HttpCaller, id: string, content = 'Hello'): Promise<Said> {
  const { status, body, headers } = await caller.post<{
    error?: { code: string; details?: { reason?: string } };
  }>(`/sessions/${id}/messages`, { content });
  return {
    status,
    reason: body.error?.details?.reason,
    retryAfter: Number(headers.get('retry-after') ?? 0),
  };
}

const spentOf = async (user: string): Promise<number> => {
  const [row] = await one().database.query<{ cost: number }>(
    `SELECT coalesce(sum(turns.cost_usd), 0)::float8 AS cost FROM turns JOIN sessions ON sessions.id = session_id WHERE user_id = $1`,
    [user],
  );
  return row?.cost ?? 0;
};

test('"Refusal: 429 `rate_limited`, reason `budget_reached`", with Retry-After until the day ends, and nothing is stored', async () => {
  await set({ 'limits.users.ada.daily_usd': 2 * CALL_USD });
  const id = await session(one().b, 'ada');
  expect(await say(one().b, id)).toMatchObject({ status: 200 });
  expect(await say(one().b, id)).toMatchObject({ status: 200 });
  const calls = provider.counted.length;
  const refused = await say(one().b, id);
  expect(refused).toMatchObject({ status: 429, reason: 'budget_reached' });
  const left = (new Date().setUTCHours(24, 0, 0, 0) - Date.now()) / 1000;
  expect(Math.abs(refused.retryAfter - left)).toBeLessThan(30);
  expect(provider.counted).toHaveLength(calls);
  const stored = await one().database.query(`SELECT 1 FROM messages WHERE session_id = $1`, [id]);
  expect(stored).toHaveLength(4);
  const bob = await session(one().b, 'bob');
  expect(await say(one().b, bob)).toMatchObject({ status: 200 });
});

test('a budget raised by PATCH works at once, and a name with dots is quoted: limits.users."https://login.example.com/|ada".daily_usd', async () => {
  const user = 'https://login.example.com/|ada';
  const key = `limits.users."${user}".daily_usd`;
  await set({ [key]: CALL_USD });
  const id = await session(one().b, user);
  expect(await say(one().b, id)).toMatchObject({ status: 200 });
  expect(await say(one().b, id)).toMatchObject({ status: 429 });
  const { status } = await one().b.patch('/config', { [key]: 2 * CALL_USD });
  expect(status).toBe(200);
  expect(await say(one().b, id)).toMatchObject({ status: 200 });
  expect(await say(one().b, id)).toMatchObject({ status: 429, reason: 'budget_reached' });
});

test('"checked before each model call": a turn under a budget stops between its calls, and costs what they cost', async () => {
  await set({ 'limits.users.cal.monthly_usd': 3 * CALL_USD });
  toolRounds = 10;
  const id = await session(one().b, 'cal');
  expect(await say(one().b, id, 'use tools')).toMatchObject({ status: 429, reason: 'budget_reached' });
  toolRounds = 0;
  expect(await spentOf('cal')).toBeCloseTo(3 * CALL_USD, 10);
  const refused = await say(one().b, id);
  expect(refused).toMatchObject({ status: 429, reason: 'budget_reached' });
  const now = new Date();
  const left = (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - now.getTime()) / 1000;
  expect(Math.abs(refused.retryAfter - left)).toBeLessThan(30);
});

test('"limits.each_user … hold for everyone of the kind who has no entry"', async () => {
  await set({ 'limits.each_user.daily_usd': CALL_USD, 'limits.users.dora.daily_usd': 2 * CALL_USD });
  const [dora, emil] = [await session(one().b, 'dora'), await session(one().b, 'emil')];
  for (const id of [dora, emil]) expect(await say(one().b, id)).toMatchObject({ status: 200 });
  expect(await say(one().b, emil)).toMatchObject({ status: 429 });
  expect(await say(one().b, dora)).toMatchObject({ status: 200 });
  expect(await say(one().b, dora)).toMatchObject({ status: 429 });
});

test.each([
  ['limits.agents.default', 'agents', 'default'],
  ['limits.each_agent', 'agents', 'default'],
  ['limits.api_tokens."NAME"', 'api_tokens', 'one'],
  ['limits.each_api_token', 'api_tokens', 'each'],
  ['limits.all', 'all', ''],
])('%s refuses what would pass it, by the day and by the month', async (key, scope, name) => {
  for (const [period, unit] of [
    ['daily_usd', 'day'],
    ['monthly_usd', 'month'],
  ] as const) {
    const token = `${name} by the ${unit}`;
    const isToken = scope === 'api_tokens';
    const caller = isToken ? one().caller('b', await one().mint({ name: token })) : one().b;
    const [before] = await one().database.query<{ spent: number }>(
      `SELECT budget_spent($1, $2, date_trunc('${unit}', now() AT TIME ZONE 'UTC')::date)::float8 AS spent`,
      [scope, isToken ? token : name],
    );
    const limit = Math.round(((before?.spent ?? 0) + CALL_USD) * 1e6) / 1e6;
    await set({ [`${key.replace('NAME', token)}.${period}`]: limit });
    const id = await session(caller, 'gil');
    expect([period, await say(caller, id)]).toEqual([period, expect.objectContaining({ status: 200 })]);
    expect([period, await say(caller, id)]).toEqual([
      period,
      expect.objectContaining({ status: 429, reason: 'budget_reached' }),
    ]);
    await set({ [key.split('.').slice(0, 2).join('.')]: null });
  }
});

test('"Events `budget.warned` (80 %), `budget.reached`", once for each budget and period', async () => {
  const hook = await one().b.post('/hooks', { url: receiver.url(), events: ['budget.*'] });
  expect(hook.status).toBe(201);
  await set({ 'limits.users.fay.daily_usd': 5 * CALL_USD });
  const id = await session(one().b, 'fay');
  for (let turn = 1; turn <= 3; turn += 1) await say(one().b, id);
  expect(receiver.bodies()).toEqual([]);
  await say(one().b, id);
  await eventually(() => expect(receiver.bodies().map(({ event }) => event)).toEqual(['budget.warned']));
  await say(one().b, id);
  await eventually(() =>
    expect(receiver.bodies().map(({ event }) => event)).toEqual(['budget.warned', 'budget.reached']),
  );
  expect(receiver.bodies()[0]?.data).toEqual({
    scope: 'users',
    name: 'fay',
    period: 'day',
    starts_on: new Date().toISOString().slice(0, 10),
    resets_at: new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString().replace('.000', ''),
    limit_usd: 5 * CALL_USD,
    spent_usd: 4 * CALL_USD,
  });
  const waiting = await one().database.query<{ n: number }>('SELECT count(*)::int AS n FROM usage_entries');
  expect(waiting).toEqual([{ n: 0 }]);
});

test('"over three replicas and 64 clients a budget is overshot by at most the turns that had begun"', async () => {
  const [before] = await one().database.query<{ spent: number }>(
    `SELECT budget_spent('all', '', date_trunc('month', now() AT TIME ZONE 'UTC')::date)::float8 AS spent`,
  );
  const budget = (before?.spent ?? 0) + 100 * CALL_USD;
  await set({ 'limits.all.monthly_usd': budget });
  const callsBefore = provider.counted.length;
  let running = 0;
  let mostRunning = 0;
  let refused = 0;
  const client = async (number: number): Promise<void> => {
    const { b } = gateways[number % gateways.length] as TestGateway;
    const id = await session(b, `client ${number}`);
    for (;;) {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      const said = await say(b, id);
      running -= 1;
      if (said.status === 200) continue;
      // So many clients may wait too long for a connection of a slow database; they ask again, as they are told.
      if (said.reason === 'database_unavailable') continue;
      expect(said).toMatchObject({ status: 429, reason: 'budget_reached' });
      refused += 1;
      return;
    }
  };
  await Promise.all(Array.from({ length: 64 }, (_, number) => client(number)));
  expect(refused).toBe(64);
  const calls = provider.counted.length - callsBefore;
  expect(calls).toBeGreaterThanOrEqual(100);
  expect(calls).toBeLessThanOrEqual(100 + mostRunning);
});
