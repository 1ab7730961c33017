import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool, McpBench, processesWith, scripted, serverB } from '../harness/mcp.js';

function works(): boolean {
  try {
    execFileSync('bwrap', ['--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', 'true'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

const here = works();
const mark = `sandbox-${process.pid}`;
let bench: McpBench;
let gateway: TestGateway;

const connected = (name: string) =>
  eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'), 20_000);

afterEach(async () => {
  await gateway.stop();
  await bench.clear();
});

const backend = async (): Promise<string> =>
  (await gateway.a.get<{ sandbox_backend: string }>('/info')).body.sandbox_backend;

describe(here ? 'bubblewrap' : 'bubblewrap (skipped: it does not work on this machine)', () => {
  const inside = here ? test : test.skip;

  inside(
    'shuts a child in: it writes where it may, and sees neither other processes nor the gateway',
    async () => {
      bench = await McpBench.make({});
      const open = join(bench.folder, 'open');
      const data = join(bench.folder, 'data');
      await mkdir(open);
      await mkdir(data);
      await bench.write(
        { boxed: { ...scripted(mark), writable_paths: [open], env: { GRANTED: 'yes' } } },
        `[security.sandbox]\nbackend = "bubblewrap"\n[database]\ndata_dir = "${data}"\n`,
      );
      gateway = await startTestGateway({
        env: { ...bench.env, NOT_GRANTED: 'secret', PATH: process.env['PATH'] ?? '' },
      });
      await connected('boxed');
      expect(await backend()).toBe('bubblewrap');

      expect((await callTool(gateway, 'boxed__touch', { text: join(open, 'x') })).status).toBe('success');
      expect(existsSync(join(open, 'x'))).toBe(true);
      const outside = await callTool(gateway, 'boxed__touch', { text: resolve('written-from-inside') });
      expect(outside).toMatchObject({
        status: 'error',
        output: expect.stringContaining('read-only') as string,
      });
      const secrets = await callTool(gateway, 'boxed__read', { text: bench.file });
      expect(secrets.output).not.toContain('sandbox');
      const process1 = await callTool(gateway, 'boxed__read', { text: `/proc/${process.pid}/environ` });
      expect(process1.status).toBe('error');
      const { output } = await callTool(gateway, 'boxed__env', {});
      const env = JSON.parse(output) as Record<string, string>;
      expect(env).toMatchObject({ GRANTED: 'yes' });
      expect(Object.keys(env)).not.toContain('NOT_GRANTED');
      await gateway.stop();
      expect(processesWith(mark)).toEqual([]);
    },
  );
});

test('without a sandbox the gateway says none, and a child still gets granted variables only', async () => {
  bench = await McpBench.make({ plain: scripted(mark) }, '[security.sandbox]\nbackend = "none"\n');
  gateway = await startTestGateway({ env: { ...bench.env, NOT_GRANTED: 'secret' } });
  await connected('plain');
  expect(await backend()).toBe('none');
  const { output } = await callTool(gateway, 'plain__env', {});
  expect(Object.keys(JSON.parse(output) as object)).not.toContain('NOT_GRANTED');
  expect(output).not.toContain('DATABASE_URL');
  const limits = await callTool(gateway, 'plain__read', { text: '/proc/self/limits' });
  expect(limits.output).toMatch(/Max open files +1024 +1024/);
  expect(limits.output).toMatch(new RegExp(`Max data size +${2048 * 1_048_576} `));
});

describe('limits of a child', () => {
  test('one that takes more memory than it may have ends, and is replaced', async () => {
    bench = await McpBench.make(
      { greedy: scripted(mark) },
      '[security.sandbox]\nbackend = "none"\n[mcp]\nmax_child_memory_mb = 512\n',
    );
    gateway = await startTestGateway({ env: bench.env });
    await connected('greedy');
    const { output: pid } = await callTool(gateway, 'greedy__pid', {});
    expect(await callTool(gateway, 'greedy__hoard', { text: '64' })).toMatchObject({
      status: 'success',
      output: 'kept 64 MiB',
    });
    // An engine that is denied memory ends.
    expect(await callTool(gateway, 'greedy__hoard', { text: '640' })).toMatchObject({
      status: 'error',
      output: expect.stringContaining('was lost while the call ran') as string,
    });
    await eventually(async () => {
      const { status, output } = await callTool(gateway, 'greedy__pid', {});
      expect([status, output === pid]).toEqual(['success', false]);
    });
  });

  test('it opens no more files than it may', async () => {
    bench = await McpBench.make(
      { collector: scripted(mark) },
      '[security.sandbox]\nbackend = "none"\n[mcp]\nmax_child_files = 128\n',
    );
    gateway = await startTestGateway({ env: bench.env });
    await connected('collector');
    expect((await callTool(gateway, 'collector__open', { text: '32' })).output).toBe('opened 32');
    expect(await callTool(gateway, 'collector__open', { text: '200' })).toMatchObject({
      status: 'error',
      output: expect.stringContaining('EMFILE') as string,
    });
    expect((await callTool(gateway, 'collector__echo', { text: 'still here' })).status).toBe('success');
  });
});
