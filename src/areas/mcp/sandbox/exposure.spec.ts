import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { exposureOf } from './exposure.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'agx-')));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(name: string, text = 'x', mode = 0o644): string {
  const file = join(root, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode });
  return file;
}

interface Start {
  readonly file?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly readable?: readonly string[];
  readonly writable?: readonly string[];
  readonly config?: string;
  readonly home?: string;
}

/** The mounts below the folder of this test, by their path in it. */
function shown(start: Start): Record<string, string> {
  const { mounts } = exposure(start);
  const own = mounts.filter(({ path }) => path.startsWith(`${root}/`) || path === root);
  return Object.fromEntries(own.map(({ path, how }) => [path.slice(root.length + 1), how]));
}

function exposure(start: Start) {
  const { file = 'true', args = [], cwd, env = {}, readable = [], writable = [] } = start;
  const under = (path: string) => join(root, path);
  return exposureOf(
    { file, args, cwd: cwd === undefined ? undefined : under(cwd), env: { PATH: '/usr/bin:/bin', ...env } },
    { readablePaths: readable.map(under), writablePaths: writable.map(under) },
    {
      configFile: under(start.config ?? 'etc/gateway.toml'),
      dataFolder: under('data'),
      workingFolder: under('gateway'),
      home: under(start.home ?? 'home'),
    },
  );
}

test('the system is shown, but neither the root nor the state of other programs', () => {
  const paths = exposure({}).mounts.map(({ path }) => path);
  expect(paths).toContain('/usr');
  for (const hidden of ['/', '/etc', '/run', '/var', '/home', '/root', '/tmp', '/sys', '/etc/ssl/private'])
    expect(paths).not.toContain(hidden);
});

describe('the working folder', () => {
  test('is shown as a whole', () => {
    write('project/index.js');
    expect(shown({ cwd: 'project' })).toEqual({ project: 'readable' });
  });

  test('is shown without its environment file', () => {
    write('project/index.js');
    write('project/.env');
    write('project/.npmrc');
    expect(shown({ cwd: 'project' })).toEqual({ 'project/index.js': 'readable' });
  });

  test('of the gateway itself is shown entry by entry, so that no later file appears', () => {
    write('gateway/index.js');
    write('gateway/node_modules/x/index.js');
    expect(shown({})).toEqual({ 'gateway/index.js': 'readable', 'gateway/node_modules': 'readable' });
  });

  test('that holds the settings shows its packages and nothing else', () => {
    for (const name of ['gateway.toml', 'gateway.toml.bak', 'key.pem', '.env', 'package.json'])
      write(`gateway/${name}`);
    write('gateway/node_modules/x/index.js');
    write('gateway/other/file');
    expect(shown({ config: 'gateway/gateway.toml' })).toEqual({
      'gateway/node_modules': 'readable',
      'gateway/package.json': 'readable',
    });
  });

  test('that is a home shows its packages and nothing else', () => {
    write('home/.ssh/id');
    write('home/node_modules/x/index.js');
    expect(shown({ cwd: 'home' })).toEqual({ 'home/node_modules': 'readable' });
  });
});

describe('arguments', () => {
  test('code is shown with its project and the packages above', () => {
    write('mono/node_modules/y/index.js');
    write('mono/a/package.json');
    write('mono/a/dist/server.js');
    write('mono/b/letter');
    expect(shown({ cwd: 'elsewhere', args: [join(root, 'mono/a/dist/server.js')] })).toEqual({
      'mono/a': 'readable',
      'mono/node_modules': 'readable',
    });
  });

  test('code beside the settings is shown with the code beside it and the folder it is in', () => {
    for (const name of ['gateway.toml', 'letter', 'server.mjs', 'helper.mjs', 'package.json', 'tool/x.mjs'])
      write(`gateway/${name}`);
    const config = 'gateway/gateway.toml';
    expect(shown({ config, args: ['server.mjs'] })).toEqual({
      'gateway/server.mjs': 'readable',
      'gateway/helper.mjs': 'readable',
      'gateway/package.json': 'readable',
    });
    expect(shown({ config, args: ['tool/x.mjs'] })).toEqual({
      'gateway/tool': 'readable',
      'gateway/package.json': 'readable',
    });
  });

  test('a script in a home is shown alone', () => {
    write('home/server.py');
    write('home/other.py');
    expect(shown({ args: [join(root, 'home/server.py')] })).toEqual({ 'home/server.py': 'readable' });
  });

  test('files and folders are shown, also after an equals sign and in variables', () => {
    const [folder, file, granted] = ['notes/a', 'conf/x.json', 'conf/ca.pem'].map((name) => write(name));
    expect(
      shown({ args: [dirname(folder ?? ''), `--config=${file}`], env: { SSL_CERT_FILE: granted ?? '' } }),
    ).toEqual({ notes: 'readable', 'conf/x.json': 'readable', 'conf/ca.pem': 'readable' });
  });

  test('settings, data and environment files are not shown even when named', () => {
    const names = ['etc/gateway.toml', 'etc/gateway.toml~', 'data/master.key', 'notes/.env', 'home/letter'];
    const args = names.map((name) => write(name));
    expect(shown({ args: [...args, ...['etc', 'data', 'gateway', 'home'].map((name) => join(root, name))] }))
      // A named file of a home is shown; the home itself is not.
      .toEqual({ 'home/letter': 'readable' });
    expect(exposure({ args: ['/', '/proc', '/proc/1/environ', '/run', '/sys'] }).mounts).toEqual(
      exposure({}).mounts,
    );
  });

  test('a socket is not shown, because even a read-only one can be connected to', async () => {
    const path = join(root, 'service.sock');
    const server = createServer().listen(path);
    await new Promise((resolve) => server.once('listening', resolve));
    expect(shown({ args: [path], readable: ['service.sock'] })).toEqual({});
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('the program', () => {
  test('is shown with its installation and nothing around it', () => {
    const program = write('opt/node/bin/tool', '#!/bin/sh\n', 0o755);
    write('opt/node/lib/x');
    write('opt/node/share/key');
    expect(shown({ file: 'tool', env: { PATH: dirname(program) } })).toEqual({
      'opt/node/bin': 'readable',
      'opt/node/lib': 'readable',
    });
  });

  test('that is a link is shown where it leads, with the interpreter of its first line', () => {
    write('python/bin/python3', '', 0o755);
    write('python/lib/x');
    write('tools/t/bin/tool', `#!/usr/bin/env -S python3 -I\n`, 0o755);
    mkdirSync(join(root, 'local/bin'), { recursive: true });
    symlinkSync(join(root, 'tools/t/bin/tool'), join(root, 'local/bin/tool'));
    const path = [join(root, 'local/bin'), join(root, 'python/bin')].join(':');
    expect(shown({ file: 'tool', env: { PATH: path } })).toEqual({
      'local/bin': 'readable',
      'python/bin': 'readable',
      'python/lib': 'readable',
      'tools/t/bin': 'readable',
    });
  });

  test('of a package is shown with all packages beside it', () => {
    write('gateway/node_modules/server/bin/x.js', '#!/usr/bin/env node\n', 0o755);
    expect(shown({ file: join(root, 'gateway/node_modules/server/bin/x.js') })).toEqual({
      'gateway/node_modules': 'readable',
    });
  });

  test("npm's cache is shown", () => {
    write('home/.npm/_cacache/x');
    write('home/.npmrc');
    expect(shown({ env: { HOME: join(root, 'home') } })).toEqual({ 'home/.npm': 'readable' });
  });
});

test("the gateway's home is empty in a folder above it that is named, but for what is named or granted in it", () => {
  for (const name of ['srv/home/.aws/credentials', 'srv/home/tool/x.json', 'srv/notes/x']) write(name);
  const args = [join(root, 'srv')];
  expect(shown({ args, home: 'srv/home' })).toEqual({ srv: 'readable', 'srv/home': 'empty' });
  expect(shown({ args: [...args, join(root, 'srv/home/tool')], home: 'srv/home' })).toMatchObject({
    'srv/home': 'empty',
    'srv/home/tool': 'readable',
  });
  expect(shown({ readable: ['srv', 'srv/home'], home: 'srv/home' })).toEqual({ srv: 'readable' });
});

describe('grants', () => {
  test('folders above guarded ones are shown with those covered', () => {
    for (const name of ['etc/gateway.toml', 'data/key', 'gateway/.env', 'letter']) write(name);
    expect(shown({ readable: ['.'] })).toEqual({
      '': 'readable',
      etc: 'empty',
      data: 'empty',
      gateway: 'empty',
    });
    expect(shown({ writable: ['.'], cwd: 'etc' })).toMatchObject({ '': 'writable', etc: 'empty' });
  });

  test('a folder below the settings may be granted, and is writable inside a folder that is not', () => {
    write('etc/open/x');
    expect(shown({ writable: ['etc/open'], readable: ['etc/open'] })).toEqual({ 'etc/open': 'writable' });
  });

  test.each([
    ['the folder of the settings', 'etc'],
    ['the settings', 'etc/gateway.toml'],
    ["the gateway's working folder", 'gateway'],
    ['the data', 'data'],
    ['something of the data', 'data/postgres'],
    ['an environment file', 'notes/.env'],
  ])('%s cannot be granted', (_what, path) => {
    for (const name of ['etc/gateway.toml', 'data/postgres/x', 'gateway/x', 'notes/.env']) write(name);
    expect(() => shown({ readable: [path] })).toThrow(/readable_paths names .* no server may see as a whole/);
    expect(() => shown({ writable: [path] })).toThrow(/writable_paths names .* no server may see as a whole/);
  });

  test('a missing path cannot be granted', () => {
    expect(() => shown({ writable: ['absent'] })).toThrow(
      /writable_paths names .*absent, which does not exist/,
    );
  });

  test('a link keeps its name, and leads to the real folder', () => {
    write('real/x');
    mkdirSync(join(root, 'names'));
    symlinkSync(join(root, 'real'), join(root, 'names/link'));
    const { links, mounts } = exposure({ writable: ['names/link'] });
    expect(mounts).toContainEqual({ path: join(root, 'real'), how: 'writable' });
    expect(links).toContainEqual({ path: join(root, 'names/link'), target: join(root, 'real') });
  });

  test('a link that the server can write does not redirect the next start', () => {
    write('open/there/x');
    write('open/.env');
    write('home/.ssh/id');
    symlinkSync(join(root, 'home/.ssh'), join(root, 'open/link'));
    expect(() => shown({ writable: ['open', 'open/link'] })).toThrow('by a link that a server can write');
    const args = [join(root, 'open/link'), join(root, 'open/link/id')];
    expect(shown({ writable: ['open'], cwd: 'open', args })).toEqual({ open: 'writable' });
  });

  test('a link in the working folder shows no more than an argument may name', () => {
    for (const [name, target] of [
      ['root', '/'],
      ['etc', '/etc'],
      ['data', join(root, 'data')],
    ] as const) {
      mkdirSync(join(root, 'data'), { recursive: true });
      write('gateway/x');
      symlinkSync(target, join(root, 'gateway', name));
    }
    expect(shown({})).toEqual({ 'gateway/x': 'readable' });
    expect(exposure({}).mounts.map(({ path }) => path)).not.toContain('/etc');
  });

  test('the folder of the settings is hidden behind a link as well', () => {
    write('mounted/..data/gateway.toml');
    mkdirSync(join(root, 'etc'));
    symlinkSync(join(root, 'mounted/..data/gateway.toml'), join(root, 'etc/gateway.toml'));
    expect(shown({ readable: ['mounted'] })).toEqual({ mounted: 'readable', 'mounted/..data': 'empty' });
  });
});
