import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'smol-toml';
import {
  anthropicEnv,
  type CountedAnswer,
  type CountingProvider,
  startCountingProvider,
} from '../harness/counting-provider.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';

/** Follows docs/money.md literally: uses its settings, and types its commands. */
const PAGE = readFileSync('docs/money.md', 'utf8');
const blocks = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text);
const [PRICES = '', PRICES_FILE = '', BUDGETS = ''] = blocks('toml');

jest.setTimeout(120_000);

type Prices = Record<string, Record<string, number>>;
const pricesIn = (toml: string): Prices => (parse(toml) as { prices: Prices }).prices;

const bench = new ProcessBench();
let database: TestDatabase;
let provider: CountingProvider;
let gateway: TestGateway;
let next: CountedAnswer;
let number = 0;
let pricesFile: string;
let env: Record<string, string>;

beforeAll(async () => {
  const folder = await bench.folder();
  pricesFile = join(folder, 'prices.toml');
  const file = join(folder, 'gateway.toml');
  await writeFile(pricesFile, PRICES_FILE);
  await writeFile(file, `${PRICES}\n${BUDGETS}\n[usage]\nprices_file = ${JSON.stringify(pricesFile)}\n`);
  env = { GATEWAY_CONFIG: file };
  provider = await startCountingProvider(() => next);
  database = await createTestDatabase();
  gateway = await startTestGateway({ database, env: { ...env, ...anthropicEnv(provider) } });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([provider.stop(), database.drop(), bench.clear()]);
});

const TOKENS = { plain: 1_000_000, read: 200_000, written: 100_000, output: 300_000 };

/** What a turn of this model cost; the provider names `answers` as the model. */
async function costOf(model: string, answers = model): Promise<number | null> {
  next = { ...TOKENS, model: answers };
  expect((await gateway.b.patch('/config', { 'provider.model': model })).status).toBe(200);
  number += 1;
  const user = { user_id: `asks ${model} ${number}` };
  const { body } = await gateway.b.post<{ id: string }>('/sessions', user);
  const said = await gateway.b.post(`/sessions/${body.id}/messages`, { content: 'Hello' });
  expect([said.status, said.text]).toEqual([200, expect.any(String)]);
  const [turn] = await database.query<{ cost: number | null }>(
    'SELECT cost_usd::float8 AS cost FROM turns WHERE session_id = $1',
    [body.id],
  );
  return turn?.cost ?? null;
}

/** Dollars, by the page's table of keys, which says what an unset key means. */
function dollars({
  input = 0,
  cached_input = input,
  cache_write = input,
  output = 0,
}: Prices[string]): number {
  const { plain, read, written, output: said } = TOKENS;
  return (plain * input + read * cached_input + written * cache_write + said * output) / 1e6;
}

test('the page has the blocks that are tried here', () => {
  expect(blocks('toml')).toHaveLength(3);
  expect(blocks('sh')).toHaveLength(1);
  expect(blocks('json')).toHaveLength(1);
});

test('its budgets are the settings of a gateway that is given them', async () => {
  const { body } = await gateway.b.get<{ limits: object; prices: object }>('/config');
  expect(body.limits).toMatchObject((parse(BUDGETS) as { limits: object }).limits);
  expect(body.prices).toMatchObject(pricesIn(PRICES));
});

test('every key of its table of budgets takes a day and a month, and 0 is none', async () => {
  const table = PAGE.slice(PAGE.indexOf('| `limits.all` |'), PAGE.indexOf('Each has `daily_usd`'));
  const keys = [...table.matchAll(/`(limits\.[^`]+)`/g)].map(([, key = '']) =>
    key.replace(/<(id|name)>/, 'ada'),
  );
  expect(keys).toHaveLength(7);
  for (const key of [...keys, 'limits.api_tokens."channel:desk"'])
    for (const period of ['daily_usd', 'monthly_usd'])
      for (const value of [1_000_000, 0, null]) {
        const { status, text } = await gateway.b.patch('/config', { [`${key}.${period}`]: value });
        expect([key, period, value, status, text]).toEqual([key, period, value, 200, expect.any(String)]);
      }
});

test('its PATCH raises the budget of a name with dots, and its variable does, too', async () => {
  const [patch = ''] = blocks('json');
  expect((await gateway.b.patch('/config', JSON.parse(patch) as object)).status).toBe(200);
  const users = { 'https://login.example.com/|ada': expect.objectContaining({ daily_usd: 75 }) as object };
  const { body } = await gateway.b.get<{ limits: { users: object } }>('/config');
  expect(body.limits.users).toMatchObject(users);
  const variable = /`(GATEWAY__LIMITS__USERS__[^`]+)`/.exec(PAGE)?.[1] ?? '';
  const shown = await bench.run(['config', 'show', '--json'], {
    env: { DATABASE_URL: database.url, [variable]: '12' },
  });
  expect([shown.code, shown.stdout]).toEqual([
    0,
    expect.stringMatching(/login\.example\.com\/\|ada[\s\S]{0,60}12/),
  ]);
});

test('"1. in the prices file … 2. in the settings … 3. in the catalogue", and each key stands for what the table says', async () => {
  for (const prices of [pricesIn(PRICES), pricesIn(PRICES_FILE)])
    for (const [key, price] of Object.entries(prices))
      expect([key, await costOf(key.replace('default/', ''))]).toEqual([
        key,
        expect.closeTo(dollars(price), 8),
      ]);
  expect(await costOf('claude-3-5-haiku-latest')).toBeGreaterThan(0);
  const both = { 'prices."default/claude-sonnet-5-5"': { input: 1, output: 1 } };
  expect((await gateway.b.patch('/config', both)).status).toBe(200);
  const inFile = pricesIn(PRICES_FILE)['default/claude-sonnet-5-5'] ?? {};
  expect(await costOf('claude-sonnet-5-5')).toBeCloseTo(dollars(inFile), 8);
  const entry = { 'prices."default/claude-3-5-haiku-latest"': { output: 1 } };
  expect((await gateway.b.patch('/config', entry)).status).toBe(200);
  // An entry replaces the catalogue's whole entry: without `input` the price is unknown.
  expect(await costOf('claude-3-5-haiku-latest')).toBeNull();
});

test('"first by the model\'s name in the answer, then by the name in the request"; what neither names is unknown', async () => {
  const both = {
    'prices."default/asked"': { input: 1, output: 1 },
    'prices."default/answered"': { input: 2, output: 2 },
  };
  expect((await gateway.b.patch('/config', both)).status).toBe(200);
  expect(await costOf('asked', 'answered')).toBeCloseTo(dollars({ input: 2, output: 2 }), 8);
  expect(await costOf('asked', 'asked-20260101')).toBeCloseTo(dollars({ input: 1, output: 1 }), 8);
  expect(await costOf('nobody-knows', 'nobody-knows-either')).toBeNull();
});

test('a prices file is read again when it changes; a bad one leaves the prices as they were, and the log says what is wrong', async () => {
  const changed = { 'default/changed': { input: 4, output: 5 } };
  await writeFile(pricesFile, '[prices."default/changed"]\ninput = 4\noutput = 5\n');
  await eventually(async () =>
    expect(await costOf('changed')).toBeCloseTo(dollars(changed['default/changed']), 8),
  );
  await writeFile(pricesFile, '[prices."default/changed"]\ninput = "four"\n');
  await eventually(() => expect(gateway.logLines.join('')).toContain('the previous prices stay in force'));
  expect(await costOf('changed')).toBeCloseTo(dollars(changed['default/changed']), 8);
  await rm(pricesFile);
  expect(await costOf('changed')).toBeCloseTo(dollars(changed['default/changed']), 8);
});

test('"At the start, a file that cannot be used stops the gateway"', async () => {
  await writeFile(pricesFile, '[prices."default/m"]\ncolour = 1\n');
  const ended = await bench.run(['serve'], {
    env: { ...env, DATABASE_URL: database.url, GATEWAY_MASTER_KEY: 'a master key that only tests may use' },
  });
  expect(ended.code).not.toBe(0);
  expect(`${ended.stdout}${ended.stderr}`).toContain('usage.prices_file');
});

test('its commands run as they are written, and its path answers', async () => {
  await database.query(
    `INSERT INTO usage_entries (day, agent, user_id, api_token, provider, model, channel, turns, input_tokens, cached_input_tokens,
       cache_write_tokens, output_tokens, reasoning_tokens, unpriced_tokens, cost_usd)
     VALUES ('2026-08-15', 'default', '=cmd', 'ci', 'default', 'm', 'api', 1, 10, 0, 0, 1, 0, 0, 0.5)`,
  );
  const folder = await bench.folder();
  const command = `'${process.execPath}' '${join(process.cwd(), 'bin/agent-gateway.js')}'`;
  const script = `set -e\nagent-gateway() { ${command} "$@"; }\n${blocks('sh').join('\n')}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: '/nonexistent', DATABASE_URL: database.url },
  });
  expect(stdout).toMatch(/^AGENT +USER +TURNS/);
  expect(await readFile(join(folder, 'august.csv'), 'utf8')).toBe(
    '\ufeffday,api_token,model,turns,input_tokens,cached_input_tokens,cache_write_tokens,output_tokens,reasoning_tokens,cost_usd,unpriced_tokens\r\n' +
      '2026-08-15,ci,m,1,10,0,0,1,0,0.5,0\r\n',
  );
  const path = /`GET \/admin\/v1(\/usage\?[^`]+)`/.exec(PAGE)?.[1] ?? '';
  const { status, body } = await gateway.admin.get<{ items: object[] }>(path);
  expect([status, body.items]).toEqual([
    200,
    [expect.objectContaining({ user: '=cmd', turns: 1, cost_usd: 0.5 })],
  ]);
});

test('"`usage.retention_days` ends it": older days go, what is newer stays', async () => {
  const insert = (daysAgo: number, rows: number) =>
    database.query(
      `INSERT INTO usage_days (day, key, agent, user_id, api_token, provider, model, channel, turns, input_tokens, cached_input_tokens,
         cache_write_tokens, output_tokens, reasoning_tokens, unpriced_tokens, cost_usd)
       SELECT (now() AT TIME ZONE 'UTC')::date - $1::int, gen_random_uuid(), 'default', 'keeps', 't', 'default', 'm', 'api', 1, 1, 0, 0, 1, 0, 0, 1
       FROM generate_series(1, $2::int)`,
      [daysAgo, rows],
    );
  // More than one statement deletes.
  await insert(100, 6000);
  await insert(60, 1);
  const left = () =>
    database.query(
      `SELECT (now() AT TIME ZONE 'UTC')::date - day AS age FROM usage_days WHERE user_id = 'keeps'`,
    );
  expect(await left()).toHaveLength(6001);
  await gateway.stop();
  gateway = await startTestGateway({
    database,
    env: { ...anthropicEnv(provider), GATEWAY__USAGE__RETENTION_DAYS: '62' },
  });
  await costOf('asked');
  await eventually(async () => expect(await left()).toEqual([{ age: 60 }]));
});
