import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';

jest.setTimeout(400_000);

const ROOT = process.cwd();
const UNIT = join('docker', 'systemd', 'agent-gateway.service');
const bench = new ProcessBench();
let folder: string;
let tarball: string;
beforeAll(async () => {
  folder = await bench.folder();
  npm(ROOT, 'pack', '--pack-destination', folder);
  tarball = join(folder, `agent-gateway-${version()}.tgz`);
});
afterAll(() => bench.clear());

function version(): string {
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
}

function npm(cwd: string, ...args: string[]): void {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error'];
  // Without npm's own variables, because this may run inside `npm run`.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  execFileSync('npm', [...args, ...quiet], {
    cwd,
    env: { ...env, CI: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The environment that the systemd unit sets, except for its folders. */
function environmentOf(unit: string): Record<string, string> {
  const pairs = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

async function expectToServe(installed: string): Promise<void> {
  const unit = readFileSync(join(installed, UNIT), 'utf8');
  const cwd = await bench.folder();
  const env = { ...environmentOf(unit), GATEWAY_DATA_DIR: join(cwd, 'data') };
  const gateway = await bench.serve({ checkout: installed, cwd, env });
  const caller = new HttpCaller(gateway.a, gateway.token);
  const session = await caller.post<{ session_id: string }>('/sessions', {});
  const answer = await caller.post(`/sessions/${session.body.session_id}/messages`, { content: 'Hello' });
  expect([session.status, answer.status]).toEqual([201, 200]);
  expect(await caller.get('/info')).toMatchObject({ status: 200, body: { version: version() } });
  gateway.kill('SIGTERM');
  expect(await gateway.ended).toMatchObject({ code: 0, stderr: '' });
}

test('a package holds what runs, the lock and the unit; neither sources nor tests, and leaves the checkout as it was', () => {
  const names = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  for (const name of [
    'dist/bundle/agent-gateway.cjs',
    'dist/build.json',
    'bin/agent-gateway.js',
    'npm-shrinkwrap.json',
    UNIT,
  ])
    expect(names).toContain(`package/${name}`);
  expect(
    names.filter((name) =>
      /^package\/(src|test|bench|data|node_modules)\/|\.spec\.|secrets\.env|master\.key|\/\.env$/.test(name),
    ),
  ).toEqual([]);
  expect(existsSync(join(ROOT, 'npm-shrinkwrap.json'))).toBe(false);
  const manifest = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
  // The package is installed from a file and must not be published to a registry.
  expect(JSON.parse(manifest)).toMatchObject({ private: true, name: 'agent-gateway' });
});

test('unpacked and installed with npm ci, it has the tested versions and no others, and serves as the unit starts it', async () => {
  const installed = join(folder, 'opt');
  mkdirSync(installed);
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  npm(installed, 'ci', '--omit=dev');
  type Locked = Record<string, { version: string; dev?: true; optional?: true; devOptional?: true }>;
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Locked };
  for (const [path, { version: locked, dev, optional, devOptional }] of Object.entries(lock.packages)) {
    const file = join(installed, path, 'package.json');
    if (path === '' || devOptional || (optional && !existsSync(file))) continue;
    if (dev) expect([path, existsSync(file)]).toEqual([path, false]);
    else expect([path, JSON.parse(readFileSync(file, 'utf8'))]).toMatchObject([path, { version: locked }]);
  }
  await expectToServe(installed);
});

test('npm install -g installs it as well', async () => {
  const prefix = join(folder, 'prefix');
  npm(folder, 'install', '-g', '--prefix', prefix, tarball);
  const said = execFileSync(join(prefix, 'bin', 'agent-gateway'), ['--version'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(said).toBe(`${version()}\n`);
  await expectToServe(join(prefix, 'lib', 'node_modules', 'agent-gateway'));
});

test('systemd finds nothing wrong with the unit', () => {
  const unit = readFileSync(join(ROOT, UNIT), 'utf8');
  expect(unit).toMatch(/^ExecStart=\/usr\/local\/bin\/agent-gateway serve$/m);
  const file = join(folder, 'agent-gateway.service');
  // systemd accepts the unit only if the command exists.
  writeFileSync(file, unit.replace('/usr/local/bin/agent-gateway', join(ROOT, 'bin', 'agent-gateway.js')));
  const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  if (verified.error !== undefined) {
    process.stderr.write('systemd-analyze is not installed: the unit is not verified.\n');
    return;
  }
  const complaints = verified.stderr.split('\n').filter((line) => line.includes(file));
  // Added in systemd 254.
  expect(complaints.filter((line) => !line.includes('DelegateSubgroup'))).toEqual([]);
  expect(verified.status).toBe(0);
});
