import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool } from '../harness/mcp.js';
import { hostImport, moduleText } from '../harness/plugin-modules.js';
import { PluginBench, pluginB } from '../harness/plugins.js';

const LOAD_MS = 3000;
const CALL_MS = 300;
/** How much later than a timer of the same length a call may be terminated, in milliseconds. */
const LATE_MS = 100;
const LIMITS = `[limits]\nmemory_mb = 2\ncall_timeout_ms = ${CALL_MS}\n`;
const FOREVER = '(loop $ever (br $ever))';
const MORE_MEMORY = '(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))';
const HTTP = `${hostImport('http_request', '(param i64 i64) (result i64)')}\n(memory 1)`;
const INPUT_LENGTH = `${hostImport('input_length', '(result i64)')}\n(memory 1)`;

const MODULES = {
  'loads-forever': { text: moduleText({ describe: FOREVER }) },
  // Runs forever only with a long text, so that other calls are answered.
  'runs-forever': {
    text: moduleText({
      declarations: INPUT_LENGTH,
      work: `(if (i64.gt_u (call $input_length) (i64.const 200)) (then ${FOREVER}))`,
    }),
    more: LIMITS,
  },
  'wants-4-gb': { text: moduleText({ declarations: '(memory 65536)' }) },
  grows: {
    text: moduleText({
      call: `(if (i32.eq (memory.grow (i32.const 60000)) (i32.const -1)) (then (unreachable)))
        ${MORE_MEMORY} (i32.const 0)`,
    }),
    more: LIMITS,
  },
  'grows-slowly': { text: moduleText({ work: MORE_MEMORY }), more: LIMITS },
  'takes-buffers': {
    text: moduleText({
      call: '(loop $more (drop (call $alloc (i64.const 100000))) (br $more)) (i32.const 0)',
    }),
    more: LIMITS,
  },
  traps: { text: moduleText({ call: '(unreachable)' }) },
  'traps-at-start': { text: moduleText({ describe: '(unreachable)' }) },
  'not-granted': { text: moduleText({ declarations: HTTP }) },
  'unknown-import': {
    text: moduleText({ declarations: '(import "env" "system" (func $system (param i32)))\n(memory 1)' }),
  },
  'imports-memory': { text: moduleText({ declarations: '(import "env" "memory" (memory 1))' }) },
  'symlink-out': { text: moduleText() },
  'wrong-hash': { text: moduleText() },
  'wrong-name': { text: moduleText() },
  greedy: { text: moduleText(), more: '[limits]\nmemory_mb = 4096\n' },
};

/** A manifest for a module at another path. */
const pointingAt = (name: string, wasm: string): string =>
  `name = "${name}"\nversion = "1.0.0"\ntype = "tool"\nwasm = "${wasm}"\ncapabilities = ["tool:act"]\n`;

let bench: PluginBench;
let gateway: TestGateway;
beforeAll(async () => {
  bench = await PluginBench.make();
  await bench.addShipped();
  await bench.addAll(MODULES);
  await bench.writeManifest('malformed', 'name = "malformed"\nversion = "one"\ncolour = "red"\n');
  await bench.writeManifest('path-out', pointingAt('path-out', '../measures/measures.wasm'));
  await writeFile(join(bench.folder, 'elsewhere.wasm'), 'x');
  await symlink(join(bench.folder, 'elsewhere.wasm'), join(bench.directory, 'symlink-out', 'other.wasm'));
  await bench.writeManifest('symlink-out', pointingAt('symlink-out', 'other.wasm'));
  await symlink('/etc', join(bench.directory, 'folder-out'));
  await writeFile(join(bench.directory, 'wrong-hash', 'plugin.wasm'), 'another');
  await bench.writeManifest('wrong-name', pointingAt('measures', 'plugin.wasm'));
  gateway = await startTestGateway({
    env: { ...bench.env, GATEWAY__PLUGINS__LOAD_TIMEOUT_MS: String(LOAD_MS) },
  });
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

test.each([
  ['loads-forever', `did not start within ${LOAD_MS} ms and was terminated`],
  ['wants-4-gb', 'asks for 4096 MiB at its start, and its limit is 64 MiB'],
  ['traps-at-start', 'unreachable'],
  ['not-granted', 'extism:host/env.http_request, which needs the permission net.http'],
  ['unknown-import', 'env.system, which this host does not have'],
  ['imports-memory', 'env.memory, and only functions can be imported'],
  ['malformed', 'version: must be a version such as 1.0.0'],
  ['path-out', 'leads out of its folder'],
  ['symlink-out', 'leads out of its folder'],
  ['folder-out', 'leads out of plugins.directory'],
  ['wrong-hash', 'does not match sha256 in plugin.toml'],
  ['wrong-name', 'differs from the name of its folder'],
  ['greedy', 'limits.memory_mb is 4096, and the maximum is 64'],
])('%s is listed with its error: %s', async (name, reason) => {
  const plugin = await pluginB(gateway, name);
  expect(plugin).toMatchObject({ status: 'failed', memory_usage_bytes: 0 });
  expect(plugin?.error).toContain(reason);
  expect(plugin?.error).not.toContain(bench.folder);
});

test('a good plugin beside them serves', async () => {
  expect(
    (await callTool(gateway, 'measures__convert_unit', { value: 10, from: 'km', to: 'mi' })).output,
  ).toBe('10.0 km = 6.21371192237 mi');
});

test('an endless call is terminated within 100 ms of its limit, and the next call is answered', async () => {
  const call = (args: Record<string, unknown>) =>
    gateway.tools.call(
      'runs-forever__act',
      args,
      { sessionId: 's', channel: 'api', userId: 'u' },
      AbortSignal.timeout(20_000),
    );
  const lateMs: number[] = [];
  /** Threads whose first call took too long, because the machine was busy. */
  let slow = 0;
  for (let time = 0; time < 5; time += 1) {
    while ((await call({})).status !== 'success') slow += 1;
    // The thread is running. The timer shows how long a plain wait of the same length takes on this machine.
    const timer = sleep(CALL_MS).then(() => performance.now());
    const { status, content } = await call({ text: 'x'.repeat(200) });
    const endedAt = performance.now();
    expect([status, content]).toEqual(['error', `it did not answer within ${CALL_MS} ms and was terminated`]);
    lateMs.push(endedAt - (await timer));
    expect((await pluginB(gateway, 'runs-forever'))?.memory_usage_bytes).toBe(0);
  }
  expect(Math.min(...lateMs)).toBeLessThan(LATE_MS);
  const { text } = await gateway.a.get('/metrics');
  expect(text).toContain(
    `agent_gateway_plugin_threads_ended_total{plugin="runs-forever",reason="timeout"} ${5 + slow}\n`,
  );
});

test('a trap ends the call and nothing else', async () => {
  for (let time = 0; time < 2; time += 1) {
    const { status, output } = await callTool(gateway, 'traps__act', {});
    expect([status, output]).toEqual(['error', 'it failed: unreachable']);
  }
  expect((await pluginB(gateway, 'traps'))?.status).toBe('loaded');
});

test('memory stops growing at its limit, as the metric shows', async () => {
  expect((await callTool(gateway, 'grows__act', {})).output).toBe('it failed: unreachable');
  expect((await callTool(gateway, 'grows-slowly__act', {})).status).toBe('success');
  const used = (await pluginB(gateway, 'grows-slowly'))?.memory_usage_bytes;
  expect(used).toBeGreaterThanOrEqual(2 * 1_048_576);
  expect(used).toBeLessThanOrEqual(2 * 1_048_576 + 131_072);
});

test('buffers of the host stop growing too', async () => {
  const { status, output } = await callTool(gateway, 'takes-buffers__act', {});
  expect([status, output]).toEqual([
    'error',
    `it failed: its buffers would take more than ${2 * 1_048_576} bytes`,
  ]);
});
