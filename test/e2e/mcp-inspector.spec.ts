import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { configEnv, removeConfigs } from '../harness/identity.js';
import { answerWith, openAiWire } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { providerEnv } from '../harness/turn-stream.js';

const INSTALLED = resolve('node_modules/@modelcontextprotocol/inspector-cli');
jest.setTimeout(60_000);

let folder: string;
let provider: ScriptedProvider;
let gateway: TestGateway;
beforeAll(async () => {
  folder = await inspectorFolder();
  provider = await startScriptedProvider();
  const env = { ...(await configEnv('[agents.support]\n')), ...providerEnv(provider) };
  gateway = await startTestGateway({ env });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([provider.stop(), removeConfigs(), rm(folder, { recursive: true, force: true })]);
});

/** The command line reads the manifest of the inspector, in whose folder `cli` it lies. This creates that layout. */
async function inspectorFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'agw-inspector-'));
  await cp(join(INSTALLED, 'build'), join(made, 'cli', 'build'), { recursive: true });
  await cp(join(INSTALLED, 'package.json'), join(made, 'package.json'));
  await symlink(resolve('node_modules'), join(made, 'node_modules'));
  if (existsSync(join(INSTALLED, 'node_modules')))
    await symlink(join(INSTALLED, 'node_modules'), join(made, 'cli', 'node_modules'));
  return made;
}

interface Inspected {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line of the MCP project's inspector, as people use it against a server. */
function inspect(method: string, args: readonly string[] = [], token = gateway.token): Promise<Inspected> {
  const url = new URL('/mcp', gateway.b.base).href;
  const header = ['--header', `Authorization: Bearer ${token}`];
  const child = spawn(
    process.execPath,
    [
      join(folder, 'cli', 'build', 'index.js'),
      url,
      '--transport',
      'http',
      '--method',
      method,
      ...args,
      ...header,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] }, timeout: 50_000 },
  );
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  return new Promise((done) => child.on('close', (code) => done({ code, ...said })));
}

async function found(method: string, args?: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await inspect(method, args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

const ask = (message: string): string[] => ['--tool-name', 'ask_support', '--tool-arg', `message=${message}`];

test('tools/list: a tool for each agent, with its schemas', async () => {
  const { tools } = (await found('tools/list')) as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual(['ask_default', 'ask_support']);
  expect(tools[1]).toMatchObject({
    inputSchema: { required: ['message'] },
    outputSchema: { type: 'object' },
  });
});

test('tools/call: the answer with its session, and the conversation goes on with that', async () => {
  provider.script(answerWith(openAiWire, 'Hello there.'), answerWith(openAiWire, 'As I said.'));
  const first = await found('tools/call', ask('Hello'));
  expect(first).toMatchObject({ content: [{ type: 'text', text: 'Hello there.' }] });
  const { session_id: session } = first['structuredContent'] as { session_id: string };
  const second = await found('tools/call', [...ask('Again'), `session_id=${session}`]);
  expect(second).toMatchObject({ structuredContent: { session_id: session, content: 'As I said.' } });
  expect(JSON.stringify(provider.requests.at(-1)?.body)).toMatch(/Hello.*Hello there.*Again/s);
});

test('a call that is wrong is a result that says how', async () => {
  const wrong = await found('tools/call', [...ask('Hello'), 'more=1']);
  expect(wrong).toMatchObject({ isError: true });
  expect(JSON.stringify(wrong)).toContain('more: is not known');
});

test.each([
  ['resources/list', []],
  ['resources/read', ['--uri', 'file:///etc/hosts']],
  ['resources/templates/list', []],
  ['prompts/list', []],
  ['prompts/get', ['--prompt-name', 'hello']],
  ['logging/setLevel', ['--log-level', 'info']],
])('%s is refused by name', async (method, args) => {
  const { code, stderr } = await inspect(method, args);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/not (found|support)/i) as string,
  });
});

test('without a good token it is told 401, and 403 without sessions:write', async () => {
  expect(await inspect('tools/list', [], 'agw_none')).toMatchObject({
    ...{ code: 1, stderr: expect.stringContaining('unauthorized') as string },
  });
  const reader = await gateway.mint({ scopes: ['sessions:read'] });
  expect(await inspect('tools/list', [], reader)).toMatchObject({
    ...{ code: 1, stderr: expect.stringContaining('forbidden') as string },
  });
});
