import { existsSync, readFileSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { ChildGroups } from '../../src/areas/mcp/sandbox/control-groups.js';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { callTool, McpBench, prober, type ServerB, scripted, serverB } from '../harness/mcp.js';
import { describeInSandbox, isRoot, NOBODY } from '../harness/sandbox.js';

const mark = `limits-${process.pid}`;
const groups = ChildGroups.detect();
const grouped = groups.boundsProcesses && groups.boundsMemory;

const ALL_LIMITS = '[mcp]\nmax_child_processes = 64\nmax_child_memory_mb = 256\n';
const processes = new ProcessBench();
let bench: McpBench;
let gateway: TestGateway;

async function start(name: string, server: Record<string, unknown>, more: string): Promise<void> {
  bench = await McpBench.make({ [name]: server }, more);
  gateway = await startTestGateway({ env: { ...bench.env, PATH: process.env['PATH'] ?? '' } });
  await eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'), 20_000);
}

const stopped = async () => {
  await gateway.stop();
  await bench.clear();
};

describe('without a sandbox', () => {
  afterEach(stopped);

  test('the gateway reports none, and a child still gets granted variables only', async () => {
    bench = await McpBench.make({ plain: scripted(mark) });
    gateway = await startTestGateway({ env: { ...bench.env, NOT_GRANTED: 'secret' } });
    await eventually(async () => expect((await serverB(gateway, 'plain'))?.status).toBe('connected'), 20_000);
    const info = await gateway.a.get<{ sandbox_backend: string; sandbox_warning?: string }>('/info');
    expect([info.body.sandbox_backend, info.body.sandbox_warning]).toEqual(['none', undefined]);
    const { output } = await callTool(gateway, 'plain__env', {});
    expect(Object.keys(JSON.parse(output) as object)).not.toContain('NOT_GRANTED');
    expect(output).not.toContain('DATABASE_URL');
    const limits = await callTool(gateway, 'plain__read', { text: '/proc/self/limits' });
    expect(limits.output).toMatch(/Max open files +1024 +1024/);
    expect(limits.output).toMatch(new RegExp(`Max data size +${2048 * 1_048_576} `));
    // When the machine runs out of memory, the kernel kills the child and not the gateway.
    expect((await callTool(gateway, 'plain__read', { text: '/proc/self/oom_score_adj' })).output).toBe(
      '1000\n',
    );
    expect(readFileSync('/proc/self/oom_score_adj', 'utf8')).not.toBe('1000\n');
  });

  test('a child that exceeds its memory limit ends and is replaced', async () => {
    await start('greedy', scripted(mark), '[mcp]\nmax_child_memory_mb = 512\n');
    const { output: pid } = await callTool(gateway, 'greedy__pid', {});
    expect(await callTool(gateway, 'greedy__hoard', { text: '64' })).toMatchObject({
      status: 'success',
      output: 'kept 64 MiB',
    });
    // A JavaScript engine exits when it gets no more memory.
    expect(await callTool(gateway, 'greedy__hoard', { text: '640' })).toMatchObject({
      status: 'error',
      output: expect.stringContaining('was lost while the call ran') as string,
    });
    await eventually(async () => {
      const { status, output } = await callTool(gateway, 'greedy__pid', {});
      expect([status, output === pid]).toEqual(['success', false]);
    });
  });

  test('a child cannot open more files than its limit', async () => {
    await start('collector', scripted(mark), '[mcp]\nmax_child_files = 128\n');
    expect((await callTool(gateway, 'collector__open', { text: '32' })).output).toBe('opened 32');
    expect(await callTool(gateway, 'collector__open', { text: '200' })).toMatchObject({
      status: 'error',
      output: expect.stringContaining('EMFILE') as string,
    });
    expect((await callTool(gateway, 'collector__echo', { text: 'still here' })).status).toBe('success');
  });
});

(grouped ? describe : describe.skip)(
  grouped ? 'control groups' : 'control groups (passed over: none can be made here)',
  () => {
    afterEach(stopped);
    const LIMITS = '[mcp]\nmax_child_processes = 64\nmax_child_total_memory_mb = 256\n';

    test('bound the processes of a server and of everything it starts', async () => {
      await start('boxed', prober(mark), LIMITS);
      const { output } = await callTool(gateway, 'boxed__multiply', { text: '200' });
      const [, made = '', refused = ''] = /^(\d+) started, (\d+) refused$/.exec(output) ?? [];
      expect([Number(made) < 64, Number(refused) > 100]).toEqual([true, true]);
      expect((await callTool(gateway, 'boxed__shell', { text: 'echo alive' })).output).toBe('alive');
    });

    test('bound its memory as a whole, over many processes and temporary files', async () => {
      await start('boxed', prober(mark), LIMITS);
      // Each of them alone stays below every limit.
      const { output } = await callTool(gateway, 'boxed__hoard', { text: '8 96' });
      expect(output).not.toBe('8 of 8 kept it');
      expect((await callTool(gateway, 'boxed__shell', { text: 'echo alive' })).output).toBe('alive');
    });

    test('are removed with the server', async () => {
      await start('boxed', prober(mark), LIMITS);
      const { output } = await callTool(gateway, 'boxed__shell', {
        text: 'grep -o "[^:]*agent-gateway-.*" /proc/self/cgroup',
      });
      expect(output).toContain(`agent-gateway-${process.pid}-`);
      await gateway.stop();
      const [name = ''] = /agent-gateway-\S+/.exec(output) ?? [];
      for (const controller of ['pids', 'memory'])
        expect(existsSync(join('/sys/fs/cgroup', controller, name))).toBe(false);
    });
  },
);

/** The kernel's process limits do not apply to root, so the gateway runs as another user. */
describeInSandbox('a gateway without control groups', () => {
  afterEach(async () => {
    await processes.clear();
    await bench.clear();
  });

  test('bounds the processes of a server, and the memory of each of them, by rlimits', async () => {
    bench = await McpBench.make(
      { boxed: prober(mark) },
      `${ALL_LIMITS}[security.sandbox]\nbackend = "bubblewrap"\n`,
    );
    const token = mintToken();
    if (isRoot) await chown(bench.folder, NOBODY, NOBODY);
    const running = await processes.serve({
      ...(isRoot ? { uid: NOBODY } : {}),
      env: {
        ...bench.env,
        GATEWAY_DATA_DIR: join(bench.folder, 'data'),
        GATEWAY_BOOTSTRAP_TOKEN: token,
      },
    });
    const caller = (base: string) => new HttpCaller(base, token);
    const a = caller(running.a);
    await eventually(async () => {
      const { body } = await caller(running.b).get<{ servers: ServerB[] }>('/mcp');
      expect(body.servers.map(({ status, error }) => [status, error])).toEqual([['connected', undefined]]);
    }, 20_000);
    const probe = async (name: string, text: string) =>
      (await callTool({ a }, `boxed__${name}`, { text })).output;
    const [, made = '', refused = ''] =
      /^(\d+) started, (\d+) refused$/.exec(await probe('multiply', '200')) ?? [];
    expect([Number(made) < 64, Number(refused) > 100]).toEqual([true, true]);
    expect(await probe('shell', 'ulimit -p || ulimit -u')).toBe('64');
    expect(await probe('hoard', '1 512')).toBe('0 of 1 kept it');
    expect(await probe('hoard', '1 64')).toBe('1 of 1 kept it');
  });
});
