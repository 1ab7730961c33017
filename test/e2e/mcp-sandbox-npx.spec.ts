import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { eventually } from '../harness/eventually.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { callTool, type ServerB } from '../harness/mcp.js';
import { describeInSandbox, writeFileAt } from '../harness/sandbox.js';

/** How people start the published servers: by name, from the folder of the settings or from a home directory. */
const token = mintToken();
const processes = new ProcessBench();
const SERVERS = ['filesystem', 'memory', 'everything'];
let folder: string;
let running: GatewayProcess;
let a: HttpCaller;

/** A folder like a checkout, which contains packages, settings, a `.env` and the data. */
async function makeCheckout(): Promise<void> {
  folder = await mkdtemp('/tmp/agw-npx-');
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"name":"checkout","private":true}');
  await writeFile(join(folder, '.env'), 'KEY=secret');
  await mkdir(join(folder, 'data'));
}

async function serve(): Promise<void> {
  running = await processes.serve({
    cwd: folder,
    checkout: process.cwd(),
    env: {
      HOME: join(folder, 'home'),
      GATEWAY_DATA_DIR: join(folder, 'data'),
      GATEWAY_BOOTSTRAP_TOKEN: token,
      GATEWAY__SECURITY__SANDBOX__BACKEND: 'bubblewrap',
    },
  });
  a = new HttpCaller(running.a, token);
}

async function allConnected(...names: string[]): Promise<void> {
  const b = new HttpCaller(running.b, token);
  await eventually(async () => {
    const { body } = await b.get<{ servers: ServerB[] }>('/mcp');
    expect(body.servers.map(({ name, status, error }) => [name, status, error])).toEqual(
      names.map((name) => [name, 'connected', undefined]),
    );
  }, 40_000);
}

describeInSandbox('servers as people start them', () => {
  beforeEach(makeCheckout);
  afterEach(async () => {
    await processes.clear();
    await rm(folder, { recursive: true, force: true });
  });

  test('as in the README: settings that are added later, beside the packages, and npx', async () => {
    await serve();
    const notes = join(folder, 'notes');
    await writeFileAt(join(notes, 'today.txt'), 'The word of the day is heliotrope.\n');
    const readme = await readFile('README.md', 'utf8');
    const lines = /cat >> gateway\.toml <<'END'\n([\s\S]*?)END\n/.exec(readme)?.[1] ?? '';
    expect(lines).toContain('npx');
    await writeFile(join(folder, 'gateway.toml'), lines.replaceAll('/tmp/notes', notes));
    await allConnected('files');
    const read = await callTool({ a }, 'files__read_text_file', { path: join(notes, 'today.txt') });
    expect(read).toMatchObject({ status: 'success', output: 'The word of the day is heliotrope.\n' });
    const written = await callTool({ a }, 'files__write_file', { path: join(notes, 'new'), content: 'x' });
    expect(written.status).toBe('success');
    expect(await readFile(join(notes, 'new'), 'utf8')).toBe('x');
  });

  test.each([
    [
      'npx, from the folder of the settings',
      (name: string) => ['npx', '-y', `@modelcontextprotocol/server-${name}`],
    ],
    [
      'their files in node_modules',
      (name: string) => ['node', `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`],
    ],
  ])('the published ones by %s', async (_what, start) => {
    const notes = join(folder, 'home/notes');
    await writeFileAt(join(notes, 'today.txt'), 'heliotrope');
    const tables = SERVERS.map((name) => {
      const [command, ...args] = start(name);
      const all = name === 'filesystem' ? [...args, notes] : args;
      return `[mcp.servers.${name}]\ncommand = "${command}"\nargs = ${JSON.stringify(all)}\nstartup_timeout_ms = 30000\n`;
    });
    await writeFile(join(folder, 'gateway.toml'), tables.join(''));
    await serve();
    await allConnected(...SERVERS);
    const read = await callTool({ a }, 'filesystem__read_text_file', { path: join(notes, 'today.txt') });
    expect(read.output).toBe('heliotrope');
    expect((await callTool({ a }, 'everything__get-sum', { a: 1, b: 2 })).output).toContain('3');
    expect((await callTool({ a }, 'memory__read_graph', {})).status).toBe('success');
  });

  test('a server in a project of a home sees its project and nothing else of the home', async () => {
    const home = join(folder, 'home');
    await writeFileAt(join(home, '.ssh/id'), 'secret');
    await writeFileAt(join(home, 'letter'), 'secret');
    await writeFileAt(join(home, 'project/package.json'), '{"type":"module"}');
    await writeFileAt(
      join(home, 'project/lib/server.mjs'),
      await readFile('test/harness/sandbox-prober.mjs', 'utf8'),
    );
    await writeFile(
      join(folder, 'gateway.toml'),
      `[mcp.servers.own]\ncommand = "node"\nargs = ["lib/server.mjs"]\ncwd = "${home}/project"\n`,
    );
    await serve();
    await allConnected('own');
    expect((await callTool({ a }, 'own__list', { text: home })).output).toBe('project');
    expect((await callTool({ a }, 'own__list', { text: folder })).output).toBe(
      // Of the data, only the user's folder.
      'data home node_modules',
    );
    expect((await callTool({ a }, 'own__shell', { text: 'pwd' })).output).toBe(join(home, 'project'));
  });
});
