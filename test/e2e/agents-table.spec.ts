import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { parse, stringify } from 'smol-toml';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { HttpCaller } from '../harness/http-caller.js';
import { runCommand } from '../harness/remote-command-line.js';

jest.setTimeout(60_000);

interface Row {
  readonly want: string;
  /** The first code span in the row. */
  readonly code: string;
}

/** The table of docs/agents.md from "I want …" to configuration. */
function rowsOfPage(): readonly Row[] {
  const page = readFileSync('docs/agents.md', 'utf8');
  const table = page.split('| I want | Configuration |\n|---|---|\n')[1]?.split('\n\n')[0] ?? '';
  return table.split('\n').map((line) => {
    const [, want = '', told = ''] = line.split('|').map((cell) => cell.trim());
    return { want, code: /`([^`]+)`/.exec(told)?.[1] ?? '' };
  });
}

const ROWS = rowsOfPage();
const isSetting = ({ code }: Row): boolean => /^[a-z_]+\..* = /.test(code);

type Settings = { readonly [key: string]: unknown };
const isTable = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
function merged(one: Settings, other: Settings): Settings {
  const both = Object.entries(other).map(([key, value]) => {
    const mine = one[key];
    return [key, isTable(mine) && isTable(value) ? merged(mine, value) : value] as const;
  });
  return { ...one, ...Object.fromEntries(both) };
}

interface SessionWire {
  readonly id: string;
  readonly agent: string;
}
interface Refusal {
  readonly error: { readonly message: string; readonly details: { readonly reason?: string } | null };
}
interface ModelRequestWire {
  readonly model: string;
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly reasoning_effort?: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

let folder: string;
let gateway: TestGateway;
/** The models of the providers `default`, `main` and `backup`. */
const models = {
  own: new LLMock({ port: 0 }),
  main: new LLMock({ port: 0 }),
  backup: new LLMock({ port: 0 }),
};

beforeAll(async () => {
  await Promise.all(Object.values(models).map((model) => model.start()));
  folder = await mkdtemp(join(tmpdir(), 'agw-table-'));
  for (const name of ['weekly-report', 'contracts']) {
    await mkdir(join(folder, 'skills', name), { recursive: true });
    const text = `---\nname: ${name}\ndescription: About ${name}\n---\nDo it.\n`;
    await writeFile(join(folder, 'skills', name, 'SKILL.md'), text);
  }
  const provider = (kind: string, url: string) => ({
    kind,
    base_url: url,
    api_key: 'nobodys-key',
    max_retries: 0,
  });
  const base: Settings = {
    provider: { ...provider('openai', `${models.own.url}/v1`), model: 'a-model' },
    providers: {
      main: provider('anthropic', models.main.url),
      backup: { ...provider('openai', `${models.backup.url}/v1`), wire: 'chat' },
    },
    channels_config: { phone: { type: 'telegram', token: '123456:x', api_url: 'http://127.0.0.1:1' } },
    skills: { directory: join(folder, 'skills'), builtin: false },
  };
  const settings = ROWS.filter(isSetting).reduce((all, { code }) => merged(all, parse(code)), base);
  await writeFile(join(folder, 'gateway.toml'), stringify(settings));
  gateway = await startTestGateway({ env: { GATEWAY_CONFIG: join(folder, 'gateway.toml') } });
});
beforeEach(() => {
  for (const model of Object.values(models)) {
    model.reset();
    model.onMessage(/.*/, { content: 'Yes.' });
  }
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(Object.values(models).map((model) => model.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function ask(agent: string, content = 'Hello', caller: HttpCaller = gateway.b) {
  const { body } = await caller.post<SessionWire>('/sessions', { agent, user_id: 'ada' });
  return gateway.b.post<{ model: string } & Refusal>(`/sessions/${body.id}/messages`, { content });
}
const sent = (model: LLMock): ModelRequestWire =>
  model.getRequests().at(-1)?.body as unknown as ModelRequestWire;
const toolsOf = ({ tools = [] }: ModelRequestWire): string[] => tools.map((tool) => tool.function.name);

const called = (...args: string[]) =>
  runCommand(
    {
      AGENT_GATEWAY_URL: `http://127.0.0.1:${gateway.started.ports.b}`,
      AGENT_GATEWAY_TOKEN: gateway.token,
      DATABASE_URL: gateway.database.url,
    },
    ...args,
  );

/** Checks the promise of each row, by its first cell. */
const PROMISES: Readonly<Record<string, (row: Row) => Promise<void>>> = {
  'a second agent': async () => {
    expect((await ask('support')).status).toBe(200);
    expect(JSON.stringify(sent(models.own).messages[0])).toContain('You answer customers.');
  },
  'an agent for a channel': async () => {
    const { body } = await gateway.b.post<SessionWire>('/sessions', { channel: 'phone' });
    expect((await gateway.b.get<SessionWire>(`/sessions/${body.id}`)).body.agent).toBe('support');
  },
  'a token for some agents only': async ({ code }) => {
    const { stdout } = await called(
      ...code.replace('agent-gateway ', '').split(' '),
      '--name',
      'narrow',
      '--scopes',
      '*',
    );
    const narrow = gateway.caller('b', stdout.trim());
    const { body } = await narrow.post<SessionWire>('/sessions', {});
    expect((await narrow.get<SessionWire>(`/sessions/${body.id}`)).body.agent).toBe('support');
    expect((await narrow.post('/sessions', { agent: 'legal' })).status).toBe(403);
    expect((await narrow.get('/logs')).status).toBe(403);
  },
  'an agent for some people only': async () => {
    const of = async (user: string) => gateway.caller('b', await gateway.mint({ user }));
    expect((await (await of('ada')).post('/sessions', { agent: 'legal' })).status).toBe(201);
    expect((await (await of('bob')).post('/sessions', { agent: 'legal' })).status).toBe(403);
  },
  'fewer tools for an agent': async () => {
    await ask('support');
    expect(toolsOf(sent(models.own))).toEqual(['skill_read']);
    await ask('default');
    expect(toolsOf(sent(models.own))).toContain('memory_store');
  },
  'an agent with few skills': async () => {
    await ask('support');
    const prompt = JSON.stringify(sent(models.own).messages);
    expect([prompt.includes('weekly-report'), prompt.includes('contracts')]).toEqual([true, false]);
  },
  'an agent that remembers nobody': async () => {
    await ask('legal');
    expect(toolsOf(sent(models.own)).filter((name) => name.startsWith('memory_'))).toEqual([]);
  },
  'a second provider when the first one fails': async () => {
    expect((await ask('sales')).body.model).toMatch(/^main\//);
    models.main.reset();
    models.main.onMessage(/.*/, { error: { message: 'No.' }, status: 500 });
    const { status, body } = await ask('sales');
    expect([status, body.model]).toEqual([200, expect.stringMatching(/^backup\/gpt-5\.6/)]);
  },
  'callers to choose among few models': async () => {
    const create = (model: string) => gateway.a.post<Refusal>('/sessions', { model });
    expect((await create('backup/gpt-5.6-mini')).status).toBe(201);
    const refused = await create('backup/gpt-9');
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      403,
      expect.stringContaining('gpt-5.6*'),
    ]);
  },
  'a calmer model': async () => {
    await ask('calm');
    expect(sent(models.own).temperature).toBe(0);
    const refused = await gateway.b.patch<Refusal>('/config', { 'agents.sales.temperature': 0 });
    expect([refused.status, refused.body.error.message]).toEqual([
      400,
      expect.stringContaining('agents.sales.temperature'),
    ]);
  },
  'an agent that thinks more': async () => {
    models.main.reset();
    models.main.onMessage(/.*/, { error: { message: 'No.' }, status: 500 });
    await ask('sales');
    expect(sent(models.backup).reasoning_effort).toBe('high');
  },
  'short answers': async () => {
    await ask('calm');
    expect(sent(models.own).max_tokens).toBe(300);
  },
  'a daily limit on what an agent costs': async () => {
    await gateway.database.query(
      `INSERT INTO budget_spending (scope, name, day, cost_usd)
       VALUES ('agents', 'sales', (now() AT TIME ZONE 'UTC')::date, 21)
       ON CONFLICT (scope, name, day) DO UPDATE SET cost_usd = excluded.cost_usd`,
    );
    const { status, body } = await ask('sales');
    expect([status, body.error.details?.reason]).toEqual([429, 'budget_reached']);
    await gateway.database.query(`DELETE FROM budget_spending WHERE name = 'sales'`);
    expect((await ask('default')).status).toBe(200);
  },
  'to see which agents there are and how their models do': async () => {
    const { body } = await gateway.admin.get<{ items: { name: string }[] }>('/agents');
    expect(body.items.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['calm', 'default', 'legal', 'sales']),
    );
    const listed = await called('agents', 'list');
    expect([listed.code, listed.stdout]).toEqual([
      0,
      expect.stringMatching(/^sales +main\/claude-sonnet-5/m),
    ]);
  },
  'to know whether the models answer': async ({ code }) => {
    const { code: ended, stdout } = await called(...code.replace('agent-gateway ', '').split(' '));
    expect([ended, stdout]).toEqual([0, expect.stringMatching(/^sales +main\/claude-sonnet-5 +answered/m)]);
  },
};

test('each row of the table of docs/agents.md is tried, and nothing else', () => {
  expect(ROWS.length).toBeGreaterThan(10);
  expect(ROWS.map(({ want }) => want)).toEqual(Object.keys(PROMISES));
});

test('the page sets nothing that is warned of', async () => {
  const { body } = await gateway.admin.get<{ items: { name: string; warnings: string[] }[] }>('/agents');
  expect(body.items.flatMap(({ warnings }) => warnings)).toEqual([]);
});

test.each(ROWS)('I want $want: $code', async (row) => {
  await PROMISES[row.want]?.(row);
});
