import { LLMock } from '@copilotkit/aimock';
import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import { configEnv, removeConfigs } from '../../harness/identity.js';
import { runCommand } from '../../harness/remote-command-line.js';

const AGENTS = `
[agents.support]
models = ["main/one", "gone/two"]
tools = { allow = ["memory_*", "crm__*"], deny = ["shell__*"] }
skills = ["weekly-*"]
[agents.legal]
models = ["main/one"]
[agents.lost]
models = ["closed/three"]
[prices."main/one"]
input = 1000000
output = 1000000
`;

interface ModelWire {
  readonly name: string;
  readonly status: string;
  readonly reason: string | null;
  readonly message: string | null;
  readonly latency_ms: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number | null;
}
interface CheckedWire {
  readonly agents: readonly { name: string; warnings: string[]; models: ModelWire[] }[];
  readonly cost_usd: number | null;
}
interface Refusal {
  readonly error: { readonly message: string; readonly details: { readonly reason?: string } | null };
}

let main: LLMock;
let closed: LLMock;
let gateway: TestGateway;
beforeAll(async () => {
  [main, closed] = [new LLMock({ port: 0 }), new LLMock({ port: 0 })];
  await Promise.all([main.start(), closed.start()]);
  main.onMessage(/.*/, { content: 'Yes' });
  closed.onMessage(/.*/, { error: { message: 'Who are you?' }, status: 401 });
  const provider = (name: string, url: string) => ({
    [`GATEWAY__PROVIDERS__${name}__KIND`]: 'openai',
    [`GATEWAY__PROVIDERS__${name}__API_KEY`]: `key-of-${name}-1234`,
    [`GATEWAY__PROVIDERS__${name}__BASE_URL`]: `${url}/v1`,
    [`GATEWAY__PROVIDERS__${name}__MAX_RETRIES`]: '0',
  });
  gateway = await startTestGateway({
    env: {
      ...(await configEnv(AGENTS)),
      ...provider('MAIN', main.url),
      ...provider('GONE', 'http://127.0.0.1:1'),
      ...provider('CLOSED', closed.url),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([main.stop(), closed.stop(), removeConfigs()]);
});

const WARNINGS = [
  'tools.allow: "crm__*" matches no tool.',
  'tools.deny: "shell__*" matches no tool.',
  'skills: "weekly-*" matches no skill.',
];

describe('POST /admin/v1/agents/check', () => {
  test('asks each model for one token and says what that cost, or why it did not answer', async () => {
    main.clearRequests();
    const { status, body } = await gateway.admin.post<CheckedWire>('/agents/check', {});
    expect(status).toBe(200);
    expect(body.agents.map(({ name }) => name)).toEqual(['default', 'legal', 'lost', 'support']);
    const [answered, refused] = body.agents[3]?.models ?? [];
    expect(answered).toMatchObject({ name: 'main/one', status: 'answered', reason: null, message: null });
    expect(answered?.cost_usd).toBe((answered?.input_tokens ?? 0) + (answered?.output_tokens ?? 0));
    expect(answered?.input_tokens).toBeGreaterThan(0);
    expect(refused).toMatchObject({ name: 'gone/two', status: 'failed', reason: 'provider_unreachable' });
    expect(refused?.message).toContain('could not be reached');
    expect(body.agents[2]?.models[0]).toMatchObject({ reason: 'provider_refused_credentials' });
    expect(body.agents[3]?.warnings).toEqual(WARNINGS);
    expect(body.cost_usd).toBe(answered?.cost_usd);
    // Two agents use this model, which is asked once.
    expect(main.getRequests()).toHaveLength(1);
    expect(main.getRequests()[0]?.body).toMatchObject({ model: 'one', max_tokens: 1 });
    expect(body.agents[1]?.models).toEqual([answered]);
  });

  test('what it used is in the usage of the first agent that has the model, and it is no turn; it is in the audit', async () => {
    const { body: before } = await gateway.admin.get<{ items: { agent: string; cost_usd: number }[] }>(
      '/usage?by=agent',
    );
    const { body } = await gateway.admin.post<CheckedWire>('/agents/check', { agents: ['legal'] });
    const { body: after } = await gateway.admin.get<{
      items: { agent: string; turns: number; cost_usd: number }[];
    }>('/usage?by=agent');
    const legal = after.items.find(({ agent }) => agent === 'legal');
    const earlier = before.items.find(({ agent }) => agent === 'legal')?.cost_usd ?? 0;
    expect([legal?.turns, legal?.cost_usd]).toEqual([0, earlier + (body.cost_usd ?? Number.NaN)]);
    await eventually(async () => {
      const audit = await gateway.admin.get<{
        items: { subject: string; result: string; details: object }[];
      }>('/audit?action=agent.checked');
      expect(audit.body.items.map(({ subject, result }) => [subject, result])).toEqual(
        expect.arrayContaining([
          ['legal', 'success'],
          ['all agents', 'error'],
        ]),
      );
      expect(audit.body.items.find(({ subject }) => subject === 'legal')?.details).toMatchObject({
        ...{ models: 1, failed: 0, cost_usd: body.cost_usd },
      });
    });
  });

  test('turns know at once what a check found: a model that failed is passed over, and back when it answers', async () => {
    const modelsOf = async (agent: string) => {
      const { body } = await gateway.admin.get<{ items: { name: string; models: unknown[] }[] }>('/agents');
      return body.items.find(({ name }) => name === agent)?.models;
    };
    await gateway.admin.post('/agents/check', { agents: ['lost'] });
    const cooling = { name: 'closed/three', status: 'cooling', reason: 'provider_refused_credentials' };
    expect(await modelsOf('lost')).toEqual([cooling]);
    closed.reset();
    closed.onMessage(/.*/, { content: 'Yes' });
    await gateway.admin.post('/agents/check', { agents: ['lost'] });
    expect(await modelsOf('lost')).toEqual([{ name: 'closed/three', status: 'ok', reason: null }]);
    closed.reset();
    closed.onMessage(/.*/, { error: { message: 'Who are you?' }, status: 401 });
  });

  test('needs sessions:write, no user, and an agent that the token may use; an unknown one is 400', async () => {
    const check = async (options: Parameters<TestGateway['mint']>[0], body: object = {}) => {
      const caller = gateway.adminCaller(await gateway.mint(options));
      const { status, body: told } = await caller.post<Partial<Refusal & CheckedWire>>('/agents/check', body);
      return [status, told.error?.details?.reason ?? told.agents?.map(({ name }) => name)];
    };
    expect((await check({ scopes: ['agents:read'] }))[0]).toBe(403);
    expect((await check({ user: 'ada' }))[0]).toBe(403);
    expect(await check({ agents: ['legal'] })).toEqual([200, ['legal']]);
    expect(await check({ agents: ['legal'] }, { agents: ['support'] })).toEqual([403, 'agent_not_allowed']);
    expect(await check({ agents: ['legal'] }, { agents: ['nobody'] })).toEqual([403, 'agent_not_allowed']);
    expect(await check({}, { agents: ['nobody'] })).toEqual([400, 'unknown_agent']);
    for (const agents of [[], 'legal', [1], Array.from({ length: 101 }, () => 'legal')])
      expect((await check({}, { agents }))[0]).toBe(400);
    const bound = gateway.adminCaller(await gateway.mint({ agents: ['legal'] }));
    const refused = await bound.post<Refusal>('/agents/check', { agents: ['support'] });
    expect(refused.body.error.message).toContain('may only use the agents legal');
  });

  test('agents of other users are asked only by operators who see all agents, and their names are not told', async () => {
    await gateway.b.patch('/config', { 'agents.legal.users': ['ada'] });
    const caller = gateway.adminCaller(await gateway.mint({ scopes: ['sessions:write'] }));
    const namesOf = async (one: typeof caller) =>
      (await one.post<CheckedWire>('/agents/check', {})).body.agents.map(({ name }) => name);
    expect(await namesOf(caller)).toEqual(['default', 'lost', 'support']);
    expect(await namesOf(gateway.admin)).toEqual(['default', 'legal', 'lost', 'support']);
    const refused = await caller.post<Refusal>('/agents/check', { agents: ['legal'] });
    expect([refused.status, refused.body.error.details?.reason]).toEqual([403, 'agent_not_allowed']);
    const unknown = await caller.post<Refusal>('/agents/check', { agents: ['nobody'] });
    expect([unknown.status, unknown.text]).toEqual([400, expect.not.stringMatching(/legal|lost|support/)]);
    await gateway.b.patch('/config', { 'agents.legal.users': null });
  });

  test('a budget that is used up is why a model is not asked', async () => {
    await gateway.b.patch('/config', { 'limits.agents.legal.daily_usd': 0.5 });
    main.clearRequests();
    const { body } = await gateway.admin.post<CheckedWire>('/agents/check', { agents: ['legal'] });
    expect(body.agents[0]?.models[0]).toMatchObject({ status: 'failed', reason: 'budget_reached' });
    expect([body.cost_usd, main.getRequests()]).toEqual([null, []]);
    await gateway.b.patch('/config', { 'limits.agents.legal.daily_usd': null });
  });
});

describe('agent-gateway agents', () => {
  const there = () => ({
    AGENT_GATEWAY_URL: `http://127.0.0.1:${gateway.started.ports.b}`,
    AGENT_GATEWAY_TOKEN: gateway.token,
  });

  test('check: a line for each model; ends with 1 when one does not answer', async () => {
    const { code, stdout, stderr } = await runCommand(there(), 'agents', 'check');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^support +main\/one +answered +\d+ +\$\d/m);
    expect(stdout).toMatch(/^support +gone\/two +failed +\d+ +- +provider_unreachable/m);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    expect(stderr).toMatch(/^Together: \$\d/m);
    for (const warning of WARNINGS) expect(stderr).toContain(`warning: support: ${warning}`);
  });

  test('check: of some agents, and as an object', async () => {
    const fine = await runCommand(there(), 'agents', 'check', 'legal', '--json');
    expect([fine.code, JSON.parse(fine.stdout)]).toMatchObject([
      0,
      { agents: [{ name: 'legal', warnings: [], models: [{ status: 'answered' }] }] },
    ]);
    const unknown = await runCommand(there(), 'agents', 'check', 'nobody');
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining('"nobody" is not a configured agent'),
    ]);
    const nowhere = await runCommand({}, 'agents', 'check');
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('AGENT_GATEWAY_URL')]);
  });

  test('list: the same from the database of the settings as over HTTP', async () => {
    const local = {
      ...(await configEnv(AGENTS)),
      DATABASE_URL: gateway.database.url,
      GATEWAY__PROVIDERS__MAIN__KIND: 'openai',
      GATEWAY__PROVIDERS__GONE__KIND: 'openai',
      GATEWAY__PROVIDERS__CLOSED__KIND: 'openai',
      ...Object.fromEntries(
        ['MAIN', 'GONE', 'CLOSED'].map((name) => [`GATEWAY__PROVIDERS__${name}__API_KEY`, 'x']),
      ),
    };
    type Row = Record<string, unknown>;
    const rowsOf = (text: string): Row[] => (JSON.parse(text) as { items: Row[] }).items;
    const [here, far] = [
      await runCommand(local, 'agents', 'list', '--json'),
      await runCommand(there(), 'agents', 'list', '--json'),
    ];
    expect([here.code, here.stderr]).toEqual([0, '']);
    expect(rowsOf(here.stdout).map(({ name }) => name)).toEqual(['default', 'legal', 'lost', 'support']);
    expect(Object.keys(rowsOf(here.stdout)[0] ?? {}).sort()).toEqual(
      Object.keys(rowsOf(far.stdout)[0] ?? {}).sort(),
    );
    expect(rowsOf(here.stdout)).toEqual(rowsOf(far.stdout));
    const table = await runCommand(local, 'agents', 'list');
    expect([table.code, table.stdout]).toEqual([0, expect.stringMatching(/^support +main\/one, gone\/two/m)]);
    expect(table.stderr).toContain(`warning: support: ${WARNINGS[0]}`);
  });
});

describe('an agent that names what is not there', () => {
  const complaints = () =>
    gateway.logLines
      .filter((line) => line.includes('an agent names something that does not exist'))
      .map((line) => (JSON.parse(line) as { problem: string }).problem);

  test('is in the log once at the start, and in GET /admin/v1/agents', async () => {
    await eventually(() => expect(complaints()).toEqual(WARNINGS));
    const { body } = await gateway.admin.get<{ items: { name: string; warnings: string[] }[] }>('/agents');
    expect(body.items.map(({ name, warnings }) => [name, warnings.length])).toEqual([
      ['default', 0],
      ['legal', 0],
      ['lost', 0],
      ['support', 3],
    ]);
  });

  test('is in the log after a change, and what was told is not told again', async () => {
    await gateway.b.patch('/config', { 'agents.legal.skills': ['monthly-report'] });
    await eventually(() =>
      expect(complaints()).toEqual([...WARNINGS, 'skills: "monthly-report" matches no skill.']),
    );
  });

  test('unknown providers are refused at once, with all the others', async () => {
    const { status, body } = await gateway.b.patch<Refusal>('/config', {
      'agents.one.models': ['nowhere/x', 'main/one', 'elsewhere/y'],
      'agents.two.models': ['nobody/z'],
    });
    expect(status).toBe(400);
    for (const entry of [
      'agents.one.models: entry 1',
      'agents.one.models: entry 3',
      'agents.two.models: entry 1',
    ])
      expect(body.error.message).toContain(`${entry} names a provider that is not configured`);
  });
});

test('config check warns of them, and names all unknown providers at once', async () => {
  const check = async (toml: string) => runCommand(await configEnv(toml), 'config', 'check');
  const careless = `
[agents.support]
tools = { allow = ["files__*", "memory_*", "cmr__*"], deny = ["skill_read"] }
skills = ["weekly-report"]
[mcp.servers.files]
command = "/does/not/exist"
`;
  const warned = await check(careless);
  expect([warned.code, warned.stderr]).toEqual([
    0,
    'warning: agents.support.tools.allow: "cmr__*" matches no tool.\n' +
      'warning: agents.support.skills: "weekly-report" matches no skill.\n',
  ]);
  const wrong = await check(`
[agents.one]
models = ["nowhere/x"]
[agents.two]
models = ["nobody/y"]
[channels_config.phone]
type = "telegram"
token = "123456:x"
agent = "nobody"
`);
  expect(wrong.code).toBe(1);
  expect(wrong.stderr).toContain('agents.one.models: entry 1 names a provider');
  expect(wrong.stderr).toContain('agents.two.models: entry 1 names a provider');
  expect(wrong.stderr).toContain('channels_config.phone.agent names an agent that is not configured');
});
