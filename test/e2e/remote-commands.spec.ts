import { Readable } from 'node:stream';
import { createProgram } from '../../src/cli/program.js';
import { run } from '../../src/cli/run-command-line.js';
import { readEnvironment } from '../../src/platform/settings/environment.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, scripted } from '../harness/mcp.js';
import { startNoGateway } from '../harness/no-gateway.js';

const SETTINGS = `
[agent]
tool_approval = "ask"
tool_approval_timeout_ms = 60000
`;

let bench: McpBench;
let gateway: TestGateway;
let url: string;
beforeAll(async () => {
  bench = await McpBench.make(
    { own: scripted(`remote-${process.pid}`), broken: { command: '/does/not/exist' } },
    SETTINGS,
  );
  gateway = await startTestGateway({ env: bench.env });
  url = `http://127.0.0.1:${gateway.started.ports.b}`;
  await eventually(async () =>
    expect((await called('mcp', 'list')).stdout).toMatch(/^own +stdio +connected/m),
  );
});
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function calledWith(variables: Record<string, string>, ...args: string[]): Promise<Ended> {
  return typed([], variables, ...args);
}

/** The same with these lines typed. */
async function typed(
  lines: readonly string[],
  variables: Record<string, string>,
  ...args: string[]
): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  const terminal = {
    input: Readable.from(lines.map((line) => `${line}\n`)),
    out: (text: string) => {
      stdout += text;
    },
    err: (text: string) => {
      stderr += text;
    },
  };
  const environment = readEnvironment(variables);
  const code = await run(
    args,
    createProgram({ environment, terminal, startGateway: startNoGateway }),
    terminal,
  );
  for (const line of stdout.split('\n'))
    if (!args.includes('--json') && !args.includes('chat')) expect(line.length).toBeLessThanOrEqual(100);
  return { code, stdout, stderr };
}
const called = (...args: string[]): Promise<Ended> =>
  calledWith({ AGENT_GATEWAY_URL: url, AGENT_GATEWAY_TOKEN: gateway.token }, ...args);
const jsonOf = async (...args: string[]): Promise<unknown> => {
  const { code, stdout } = await called(...args, '--json');
  expect([args, code]).toEqual([args, 0]);
  return JSON.parse(stdout);
};
const opened = async (body: object): Promise<string> =>
  (await gateway.b.post<{ id: string }>('/sessions', body)).body.id;

test('status: what happens and what needs a person', async () => {
  const { code, stdout } = await called('status');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^degraded, version \S+, up for \d/);
  expect(stdout).toMatch(/^mcp_server +broken +- +/m);
  expect(await jsonOf('status')).toMatchObject({ health: { status: 'degraded' }, now: { turns_running: 0 } });
});

test('doctor: each part with what to do, and fails when a part does', async () => {
  const { code, stdout } = await called('doctor');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^your clock +ok/m);
  for (const part of [
    'replicas',
    'database',
    'disk',
    'clock',
    'keys',
    'turns',
    'channels',
    'webhooks',
    'limits',
  ])
    expect(stdout).toMatch(new RegExp(`^${part} +ok `, 'm'));
  expect(stdout).toMatch(/^provider +warning +no model provider is configured/m);
  expect(stdout).toMatch(/^tool servers +failing +not connected: broken \(it exited with code 127;/m);
  const json = await called('doctor', '--json');
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    parts: expect.arrayContaining(
      [{ name: 'disk' }].map((part) => expect.objectContaining(part) as object),
    ) as object,
  });
  const nobody = await calledWith(
    { AGENT_GATEWAY_URL: 'http://127.0.0.1:1', AGENT_GATEWAY_TOKEN: 'x' },
    'doctor',
  );
  expect([nobody.code, nobody.stdout]).toEqual([
    1,
    expect.stringMatching(/^connection +failing +The gateway at/m),
  ]);
});

test('sessions are found, shown and ended; what users write does not control the terminal', async () => {
  const id = await opened({ user_id: 'ada\u001b[31mred', metadata: { note: '\u0007' } });
  const { code, stdout } = await called('sessions', 'list', '--query', 'ada');
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(new RegExp(`^${id} +ada\\?\\[31mred +default +api +active`, 'm')),
  ]);
  expect(await jsonOf('sessions', 'list', '--user', 'nobody')).toEqual({ items: [] });
  expect((await called('sessions', 'list', '--user', 'nobody')).stderr).toBe('There are no such sessions.\n');
  const shown = await called('sessions', 'show', id);
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/^turn_count +0$/m)]);
  expect(await jsonOf('sessions', 'show', id)).toMatchObject({ id, running: false });
  const ended = await called('sessions', 'end', id);
  expect(ended).toEqual({ code: 0, stdout: '', stderr: `${id} is terminated.\n` });
  const again = await called('sessions', 'end', id);
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^The session has ended/)]);
  const other = await opened({});
  expect(await jsonOf('sessions', 'end', other)).toEqual({ id: other, status: 'terminated' });
  expect((await called('sessions', 'show', 'sess_x')).code).toBe(1);
  expect((await called('sessions', 'list', '--status', 'gone')).code).toBe(2);
});

test('agents are listed with their models and what they spent', async () => {
  const { code, stdout } = await called('agents', 'list');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^default +\S+ +\d+ +\$0\.00 +\S/m)]);
  expect(await jsonOf('agents', 'list')).toMatchObject({ items: [{ name: 'default', spent_today_usd: 0 }] });
});

test('channels are listed and restarted', async () => {
  const { code, stdout } = await called('channels', 'list');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^api +api +connected +\d+ +-$/m)]);
  expect(await jsonOf('channels', 'list')).toMatchObject({ items: [{ name: 'api' }] });
  expect(await called('channels', 'restart', 'api')).toMatchObject({
    code: 0,
    stderr: 'api is reconnecting.\n',
  });
  expect(await jsonOf('channels', 'restart', 'api')).toEqual({ name: 'api', status: 'reconnecting' });
  expect((await called('channels', 'restart', 'nobody')).code).toBe(1);
});

test('tool servers are listed and reconnected, and their changed tools approved', async () => {
  const approve = await called('mcp', 'approve', 'own');
  expect(approve).toEqual({ code: 0, stdout: '', stderr: 'Nothing was in quarantine.\n' });
  expect(await jsonOf('mcp', 'approve', 'own')).toEqual({ approved: [] });
  expect((await called('mcp', 'approve', 'nobody')).code).toBe(1);
  expect(await jsonOf('mcp', 'list')).toMatchObject({ items: [{ name: 'broken' }, { name: 'own' }] });
  expect(await called('mcp', 'reconnect', 'broken')).toMatchObject({
    code: 0,
    stderr: 'broken is reconnecting.\n',
  });
  expect(await jsonOf('mcp', 'reconnect', 'broken')).toEqual({ name: 'broken', status: 'reconnecting' });
  expect((await called('mcp', 'reconnect', 'nobody')).code).toBe(1);
});

test.each([
  ['allow', 'allowed'],
  ['deny', 'denied'],
])('a call that waits is listed and decided: %s', async (decision, status) => {
  const session = await opened({});
  const answer = gateway.b.post(`/sessions/${session}/messages`, {
    content: '/call own__erase {"text":"all"}',
  });
  let id = '';
  await eventually(async () => {
    const { items } = (await jsonOf('approvals', 'list')) as { items: { id: string; session_id: string }[] };
    id = items.find(({ session_id }) => session_id === session)?.id ?? '';
    expect(id).not.toBe('');
  });
  expect((await called('approvals', 'list')).stdout).toMatch(new RegExp(`^${id} +own__erase`, 'm'));
  const decided = await called('approvals', decision, id);
  expect(decided).toEqual({ code: 0, stdout: '', stderr: `${id} is ${status}.\n` });
  const second = await called('approvals', decision, id);
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('the first decision counts')]);
  await answer;
});

describe('chat', () => {
  const there = (): Record<string, string> => ({
    AGENT_GATEWAY_URL: url,
    AGENT_GATEWAY_TOKEN: gateway.token,
  });

  test('one message is answered, and the session goes on with the next', async () => {
    const first = await called('chat', 'Hello', 'there');
    expect([first.code, first.stdout]).toEqual([
      0,
      expect.stringMatching(/^No model is configured(.|\n)*\n$/),
    ]);
    const id = await opened({});
    expect((await called('chat', '--session', id, 'Good morning')).code).toBe(0);
    expect(await jsonOf('sessions', 'show', id)).toMatchObject({ turn_count: 1 });
  });

  test('--json prints each event of the answer as an object, and ends as without it', async () => {
    const { code, stdout } = await called('chat', '--json', 'Hello');
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string });
    expect(code).toBe(0);
    expect(events.at(-1)?.event).toBe('done');
    expect(events.map(({ event }) => event)).toContain('token');
  });

  test('each line is a message until the input ends', async () => {
    const { code, stdout, stderr } = await typed(['One thing', 'Another thing'], there(), 'chat');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^No model is configured(.|\n)*\nNo model is configured/),
    ]);
    const id = /--session (sess_\w+)/.exec(stderr)?.[1] ?? '';
    expect(await jsonOf('sessions', 'show', id)).toMatchObject({ turn_count: 2 });
  });

  test.each([
    ['y', /own__erase: done/],
    ['n', /own__erase: failed/],
  ])('a call that waits for a person is asked about: %s', async (answer, told) => {
    const call = '/call own__erase {"text":"all"}';
    const { code, stderr } = await typed([answer], there(), 'chat', call);
    expect([code, stderr]).toEqual([0, expect.stringMatching(told)]);
    expect(stderr).toContain('[own__erase waits for a person. Allow it? y/n]');
  });

  test('what cannot be sent says why', async () => {
    expect(await called('chat', '--session', 'sess_x', 'Hello')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/session/i) as string,
    });
    expect(await called('chat', '--agent', 'nobody', 'Hello')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not a configured agent') as string,
    });
  });
});

test('commands of a running gateway take its address before them, too', async () => {
  const { code } = await calledWith({ AGENT_GATEWAY_TOKEN: gateway.token }, '--url', url, 'agents', 'list');
  expect(code).toBe(0);
});

test('a wrong token, a missing scope, no address and a wrong address say what to do', async () => {
  const wrong = await called('sessions', 'list', '--token', 'agw_wrong');
  expect([wrong.code, wrong.stdout]).toEqual([1, '']);
  const stranger = await called('--token', 'agw_wrong', 'sessions', 'list');
  expect([stranger.code, stranger.stderr]).toEqual([1, expect.stringContaining('auth token create')]);
  const poor = await gateway.mint({ scopes: ['hooks:read'] });
  const refused = await called('--token', poor, '--url', url, 'status');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('status:read')]);
  const nowhere = await calledWith({}, 'status');
  expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('AGENT_GATEWAY_URL')]);
  expect((await called('--url', 'ftp://x', 'status')).stderr).toMatch(/^--url .* has to be an address/);
  expect((await calledWith({ AGENT_GATEWAY_URL: url }, 'status')).stderr).toContain('AGENT_GATEWAY_TOKEN');
});

test('a command that works on the database is not taken for one that was done at the gateway', async () => {
  const { code, stderr } = await called('--url', url, 'tools', 'approve', 'own');
  expect([code, stderr]).toEqual([2, expect.stringContaining('"tools approve" works on the database')]);
});
