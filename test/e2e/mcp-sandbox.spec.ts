import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool, McpBench, prober, processesWith, scripted, serverB } from '../harness/mcp.js';
import { describeInSandbox, isRoot, writeFileAt } from '../harness/sandbox.js';

const mark = `sandbox-${process.pid}`;
const SECRET = 'the key of the provider';
let bench: McpBench;
let gateway: TestGateway;

const connected = (name: string) =>
  eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'), 20_000);
const backend = async (): Promise<string> =>
  (await gateway.a.get<{ sandbox_backend: string }>('/info')).body.sandbox_backend;
/** The output of a probe, whether it succeeded or not. */
const probe = async (name: string, text = ''): Promise<string> =>
  (await callTool(gateway, `boxed__${name}`, { text })).output;

function listening(path: string): Promise<Server> {
  const server = createServer((socket) => socket.end());
  return new Promise((done, failed) => {
    server.once('error', failed);
    server.listen({ path }, () => done(server));
  });
}

async function startSandboxed(server: Record<string, unknown> = {}, more = ''): Promise<void> {
  const args = [...(prober(mark)['args'] as string[]), ...((server['args'] as string[] | undefined) ?? [])];
  await bench.write(
    { boxed: { ...prober(), network: false, ...server, args } },
    `${more}\n[security.sandbox]\nbackend = "bubblewrap"\n`,
  );
  gateway = await startTestGateway({
    env: {
      ...bench.env,
      NOT_GRANTED: SECRET,
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      GATEWAY__DATABASE__DATA_DIR: join(bench.folder, 'data'),
    },
  });
  await connected('boxed');
}

describeInSandbox('a stdio server in the sandbox', () => {
  const servers: Server[] = [];
  let stateFolder: string;

  beforeAll(async () => {
    stateFolder = await mkdtemp(isRoot ? '/run/agw-test-' : '/var/tmp/agw-test-');
    bench = await McpBench.make({});
    for (const [name, text] of [
      ['data/master.key', SECRET],
      ['data/postgres/PG_VERSION', '15'],
      ['.env', SECRET],
      ['.env.production', SECRET],
      ['gateway.toml.bak', SECRET],
      ['named.json', 'what an argument names'],
      ['projects/.env', SECRET],
      ['projects/tool.mjs', 'export {}'],
      ['open/there', 'x'],
      ['private/letter', SECRET],
    ] as const)
      await writeFileAt(join(bench.folder, name), text);
    servers.push(
      await listening(join(stateFolder, 'service.sock')),
      await listening(`\0agw-test-${process.pid}`),
    );
    const folders = ['data', '.env', 'gateway.toml', 'gateway.toml.bak', '.', 'named.json'];
    const named = [...folders, 'data/master.key', 'projects'].map((name) => join(bench.folder, name));
    await startSandboxed(
      {
        args: [
          ...named,
          `--key=${join(bench.folder, 'data/master.key')}`,
          '/proc',
          '/run',
          ...(isRoot ? [stateFolder] : []),
        ],
        env: { GRANTED: 'yes' },
        writable_paths: [join(bench.folder, 'open')],
      },
      '[mcp]\nmax_child_tmp_mb = 32\nmax_child_shm_mb = 8\n',
    );
  }, 60_000);

  afterAll(async () => {
    await gateway.stop();
    expect(processesWith(mark)).toEqual([]);
    for (const server of servers) server.close();
    await rm(stateFolder, { recursive: true, force: true });
    await bench.clear();
  });

  test('is what the gateway reports', async () => {
    expect(await backend()).toBe('bubblewrap');
  });

  test('reaches no socket of the machine, neither by a path nor an abstract one', async () => {
    expect(await probe('reach', join(stateFolder, 'service.sock'))).toBe('ENOENT');
    expect(await probe('reach', `@agw-test-${process.pid}`)).toBe('ECONNREFUSED');
  });

  test('finds the folders of runtime state, homes and temporary files empty', async () => {
    // The checkout, whose scripts are visible, may itself be below one of them.
    const find = `-path ${process.cwd()} -prune -o \\( -type f -o -type s \\) -print | grep -v ${bench.folder}`;
    for (const folder of ['/run', '/var/run', '/home', '/tmp', '/var/tmp'])
      expect([folder, await probe('shell', `find ${folder}/ ${find}`)]).toEqual([folder, 'failed: 1 ']);
    expect(await probe('read', '/etc/shadow')).toBe('ENOENT');
    expect(await probe('list', '/sys')).toBe('ENOENT');
  });

  test('sees neither settings nor data nor environment files, even when its arguments name them', async () => {
    expect(await probe('list', bench.folder)).toBe('folders named.json open projects');
    // Of the users' folders, only its own.
    expect(await probe('list', bench.stateFolder)).toBe('boxed');
    expect(await probe('list', join(bench.stateFolder, 'boxed'))).toMatch(/^[0-9a-f]{40}$/);
    expect(await probe('list', join(bench.folder, 'projects'))).toBe('tool.mjs');
    expect(await probe('read', join(bench.folder, 'named.json'))).toBe('what an argument names');
    for (const name of ['gateway.toml', '.env', 'data/master.key', 'private/letter'])
      expect([name, await probe('read', join(bench.folder, name))]).toEqual([name, 'ENOENT']);
    expect(await probe('shell', `grep -rsl "${SECRET}" ${bench.folder} /proc/[0-9]*/environ`)).toBe(
      'failed: 1 ',
    );
  });

  test('never sees settings that replace the old ones by rename', async () => {
    const next = join(bench.folder, 'gateway.toml.next');
    const before = processesWith(mark);
    await writeFile(next, `# ${SECRET}\n${await readFile(bench.file, 'utf8')}`);
    await rename(next, bench.file);
    await writeFileAt(join(bench.folder, '.env.next'), SECRET);
    await rename(join(bench.folder, '.env.next'), join(bench.folder, '.env'));
    expect(await probe('list', bench.folder)).toBe('folders named.json open projects');
    expect(await probe('read', bench.file)).toBe('ENOENT');
    expect(processesWith(mark)).toEqual(before);
  });

  test('writes to granted folders only', async () => {
    const open = join(bench.folder, 'open');
    expect(await probe('shell', `echo written > ${open}/x && cat ${open}/x`)).toBe('written');
    expect(existsSync(join(open, 'x'))).toBe(true);
    for (const folder of ['/', '/dev', '/run', '/home', '/usr', '/etc', resolve('test')])
      expect([folder, await probe('shell', `touch ${folder}/x`)]).toEqual([
        folder,
        expect.stringMatching(/Read-only file system/),
      ]);
    // The settings are in /tmp here, and the sandbox has its own /tmp.
    expect(await probe('shell', `touch ${bench.folder}/x && rm ${bench.folder}/x`)).toBe('');
    expect(existsSync(join(bench.folder, 'x'))).toBe(false);
  });

  test('sees no other process and only its own variables', async () => {
    // bubblewrap's first process, the probe itself, and the command with which it looks.
    expect(
      (await probe('list', '/proc')).split(' ').filter((name) => /^\d+$/.test(name)).length,
    ).toBeLessThan(4);
    expect(await probe('read', `/proc/${process.pid}/environ`)).toBe('ENOENT');
    const env = JSON.parse(await probe('env')) as Record<string, string>;
    expect(env['GRANTED']).toBe('yes');
    expect(JSON.stringify(env)).not.toContain(SECRET);
    expect(
      await probe('shell', 'tr "\\0" "\\n" </proc/1/environ | cut -d= -f1 | grep -E "GATEWAY|DATABASE"'),
    ).toBe('failed: 1 ');
  });

  test('can fill only its own /tmp and shared memory', async () => {
    expect(await probe('fill', '/tmp')).toBe('ENOSPC after 32 MiB');
    expect(await probe('fill', '/dev/shm')).toBe('ENOSPC after 8 MiB');
  });

  test('makes no user namespace, and has no capabilities', async () => {
    expect(await probe('shell', 'unshare --user true')).toMatch(/^failed: 1 .*(not permitted|No space left)/);
    expect(await probe('shell', 'grep -hE "^Cap(Eff|Prm|Bnd)" /proc/self/status | cut -f2')).toMatch(
      /^(0+\n?){3}$/,
    );
    expect(await probe('shell', 'grep -E "^(Seccomp|NoNewPrivs):" /proc/self/status')).toMatch(
      /NoNewPrivs:\s1\nSeccomp:\s2/,
    );
  });
});

describeInSandbox('what a server may be granted', () => {
  afterEach(async () => {
    await gateway.stop();
    await bench.clear();
  });

  test.each<[what: string, key: string, folder: string, words: RegExp]>([
    ['the folder of the settings', 'writable_paths', '.', /which no server may see as a whole/],
    ['the folder of the data', 'readable_paths', 'data', /which no server may see as a whole/],
    ['a folder that is not there', 'writable_paths', 'absent', /which does not exist/],
  ])('%s is refused with the reason at its entry', async (_what, key, folder, words) => {
    bench = await McpBench.make({});
    await mkdir(join(bench.folder, 'data'));
    await bench.write(
      { boxed: { ...scripted(mark), [key]: [join(bench.folder, folder)] } },
      '[security.sandbox]\nbackend = "bubblewrap"\n',
    );
    gateway = await startTestGateway({
      env: {
        ...bench.env,
        PATH: process.env['PATH'] ?? '',
        GATEWAY__DATABASE__DATA_DIR: join(bench.folder, 'data'),
      },
    });
    await eventually(async () =>
      expect((await gateway.b.get<{ servers: { error?: string }[] }>('/mcp')).body.servers[0]?.error).toMatch(
        words,
      ),
    );
  });

  test('a granted folder above the settings covers them, also after they are replaced', async () => {
    const above = await mkdtemp('/var/tmp/agw-above-');
    bench = await McpBench.make({});
    const inner = join(above, 'inner');
    await writeFileAt(join(inner, 'data/master.key'), SECRET);
    await writeFileAt(join(above, 'letter'), 'may be read');
    const env = bench.env;
    await startSandboxed({ readable_paths: [above] });
    await gateway.stop();
    const file = join(inner, 'gateway.toml');
    await writeFile(file, await readFile(env.GATEWAY_CONFIG, 'utf8'));
    gateway = await startTestGateway({
      env: {
        GATEWAY_CONFIG: file,
        PATH: process.env['PATH'] ?? '',
        GATEWAY__DATABASE__DATA_DIR: join(inner, 'data'),
      },
    });
    await connected('boxed');
    expect(await probe('read', join(above, 'letter'))).toBe('may be read');
    expect(await probe('list', inner)).toBe('data');
    await writeFile(`${file}.next`, `${await readFile(file, 'utf8')}\n# replaced`);
    await rename(`${file}.next`, file);
    expect(await probe('list', inner)).toBe('data');
    await rm(above, { recursive: true });
  });
});
