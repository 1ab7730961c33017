import { execFile, execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { answerWith, openAiWire } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { providerEnv } from '../harness/turn-stream.js';

jest.setTimeout(400_000);

const USE = `
import { everyMessage, orThrow, profileB, RequestError } from '@agent-gateway/client';

const { api, turns } = profileB({ baseUrl: process.env['BASE']!, token: process.env['TOKEN']! });
const { id } = await orThrow(api.POST('/api/v1/sessions', { body: {} }));
let said = '';
for await (const event of turns.send(id, { content: 'Hello' })) if (event.type === 'token') said += event.data.content;
const page = (before?: string) =>
  orThrow(api.GET('/api/v1/sessions/{id}/messages', { params: { path: { id }, query: { before } } }));
const roles: string[] = [];
for await (const message of everyMessage(page)) roles.push(message.role);
const lost = await orThrow(api.GET('/api/v1/sessions/{id}', { params: { path: { id: 'sess_x' } } })).catch(
  (error: unknown) => (error instanceof RequestError ? error.status : error),
);
console.log(JSON.stringify({ said, roles, lost }));
`;
const SETTINGS = {
  ...{
    module: 'nodenext',
    moduleResolution: 'nodenext',
    target: 'es2023',
    strict: true,
    skipLibCheck: false,
  },
  ...{ types: ['node'], typeRoots: [resolve('node_modules/@types')], outDir: 'out' },
};

let folder: string;
let provider: ScriptedProvider;
let gateway: TestGateway;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agw-installed-client-'));
  provider = await startScriptedProvider();
  gateway = await startTestGateway({ env: providerEnv(provider) });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
  await rm(folder, { recursive: true, force: true });
});

function npm(cwd: string, ...args: string[]): void {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error'];
  // Without npm's own variables, because this may run inside `npm run`.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  execFileSync('npm', [...args, ...quiet], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
}

test('what `npm pack` makes of client/ is installed in an empty folder, compiles with its types, and works', async () => {
  npm(resolve('client'), 'pack', '--pack-destination', folder);
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const project = join(folder, 'project');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  npm(project, 'install', join(folder, tarball));
  await writeFile(join(project, 'use.ts'), USE);
  const config = { compilerOptions: SETTINGS, files: ['use.ts'] };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
  const run = promisify(execFile);
  const compiled = await run(process.execPath, [resolve('node_modules/typescript/bin/tsc')], {
    cwd: project,
  }).catch((error: unknown) => error as { stdout: string });
  expect(compiled.stdout).toBe('');

  provider.script(answerWith(openAiWire, 'Hello there.'));
  const env = { PATH: process.env['PATH'], BASE: new URL(gateway.b.base).origin, TOKEN: gateway.token };
  const { stdout } = await run(process.execPath, ['out/use.js'], { cwd: project, env });
  expect(JSON.parse(stdout)).toEqual({ said: 'Hello there.', roles: ['assistant', 'user'], lost: 404 });
});
