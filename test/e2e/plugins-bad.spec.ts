import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool } from '../harness/mcp.js';
import { moduleText, PluginBench, pluginB } from '../harness/plugins.js';

const LOAD_MS = 5000;
const CALL_MS = 300;
const LIMITS = `[limits]\nmemory_mb = 2\ncall_timeout_ms = ${CALL_MS}\n`;
const FOREVER = '(loop $ever (br $ever))';

let bench: PluginBench;
let gateway: TestGateway;
beforeAll(async () => {
  bench = await PluginBench.make();
  await bench.addShipped();
  await bench.add('loads-forever', moduleText({ describe: FOREVER }));
  await bench.add('runs-forever', moduleText({ call: `${FOREVER} (i32.const 0)` }), LIMITS);
  await bench.add('wants-4-gb', moduleText({ declarations: '(memory 65536)' }));
  await bench.add(
    'grows',
    moduleText({
      declarations: '(memory 1)',
      call: `(if (i32.eq (memory.grow (i32.const 60000)) (i32.const -1)) (then (unreachable)))
        (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (i32.const 0)`,
    }),
    LIMITS,
  );
  await bench.add(
    'grows-slowly',
    moduleText({
      work: '(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))',
    }),
    LIMITS,
  );
  await bench.add(
    'takes-buffers',
    moduleText({ call: '(loop $more (drop (call $alloc (i64.const 100000))) (br $more)) (i32.const 0)' }),
    LIMITS,
  );
  await bench.add('traps', moduleText({ call: '(unreachable)' }));
  await bench.add('traps-at-start', moduleText({ describe: '(unreachable)' }));
  await bench.add(
    'not-granted',
    moduleText({
      declarations:
        '(import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))\n(memory 1)',
    }),
  );
  await bench.add(
    'unknown-import',
    moduleText({ declarations: '(import "env" "system" (func $system (param i32)))\n(memory 1)' }),
  );
  await bench.add('imports-memory', moduleText({ declarations: '(import "env" "memory" (memory 1))' }));
  await bench.writeManifest('malformed', 'name = "malformed"\nversion = "one"\ncolour = "red"\n');
  await bench.writeManifest(
    'path-out',
    'name = "path-out"\nversion = "1.0.0"\ntype = "tool"\nwasm = "../measures/measures.wasm"\ncapabilities = ["tool:act"]\n',
  );
  await bench.add('symlink-out', moduleText());
  await writeFile(join(bench.folder, 'elsewhere.wasm'), 'x');
  await symlink(join(bench.folder, 'elsewhere.wasm'), join(bench.directory, 'symlink-out', 'other.wasm'));
  await bench.writeManifest(
    'symlink-out',
    'name = "symlink-out"\nversion = "1.0.0"\ntype = "tool"\nwasm = "other.wasm"\ncapabilities = ["tool:act"]\n',
  );
  await symlink('/etc', join(bench.directory, 'folder-out'));
  await bench.add('wrong-hash', moduleText());
  await writeFile(join(bench.directory, 'wrong-hash', 'plugin.wasm'), 'another');
  await bench.add('wrong-name', moduleText());
  await bench.writeManifest(
    'wrong-name',
    'name = "measures"\nversion = "1.0.0"\ntype = "tool"\nwasm = "plugin.wasm"\ncapabilities = ["tool:act"]\n',
  );
  await bench.add('greedy', moduleText(), '[limits]\nmemory_mb = 4096\n');
  gateway = await startTestGateway({
    env: { ...bench.env, GATEWAY__PLUGINS__LOAD_TIMEOUT_MS: String(LOAD_MS) },
  });
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

test.each([
  ['loads-forever', `did not start within ${LOAD_MS} ms and was ended`],
  ['wants-4-gb', 'asks for 4096 MiB at its start, and its limit is 64 MiB'],
  ['traps-at-start', 'unreachable'],
  ['not-granted', 'extism:host/env.http_request, which needs the permission net.http'],
  ['unknown-import', 'env.system, which this host does not have'],
  ['imports-memory', 'env.memory, and only functions can be imported'],
  ['malformed', 'version: must be a version such as 1.0.0'],
  ['path-out', 'leads out of the folder of the plugin'],
  ['symlink-out', 'leads out of the folder of the plugin'],
  ['folder-out', 'leads out of plugins.directory'],
  ['wrong-hash', 'not the one that sha256 names'],
  ['wrong-name', 'not that of its folder'],
  ['greedy', 'limits.memory_mb is 4096, and at most 64 is given'],
])('%s is named in the list: %s', async (name, reason) => {
  const plugin = await pluginB(gateway, name);
  expect(plugin).toMatchObject({ status: 'failed', memory_usage_bytes: 0 });
  expect(plugin?.error).toContain(reason);
  expect(plugin?.error).not.toContain(bench.folder);
});

test('the good one beside them serves', async () => {
  expect(
    (await callTool(gateway, 'measures__convert_unit', { value: 10, from: 'km', to: 'mi' })).output,
  ).toBe('10.0 km = 6.21371192237 mi');
});

test('a call that never ends is ended within 100 ms of its limit, and the next call is answered anew', async () => {
  for (let time = 0; time < 3; time += 1) {
    const startedAt = performance.now();
    const { status, content } = await gateway.tools.call(
      'runs-forever__act',
      {},
      { sessionId: 's', channel: 'api', userId: 'u' },
      AbortSignal.timeout(10_000),
    );
    const tookMs = performance.now() - startedAt;
    expect([status, content]).toEqual(['error', `it did not answer within ${CALL_MS} ms and was ended`]);
    expect(tookMs).toBeGreaterThanOrEqual(CALL_MS - 2);
    // The first time its thread is there already; later a new one is started first.
    if (time === 0) expect(tookMs).toBeLessThan(CALL_MS + 100);
    expect((await pluginB(gateway, 'runs-forever'))?.memory_usage_bytes).toBe(0);
  }
  const { text } = await gateway.a.get('/metrics');
  expect(text).toMatch(
    /^agent_gateway_plugin_threads_ended_total\{plugin="runs-forever",reason="timeout"\} 3$/m,
  );
});

test('a trap ends the call and nothing else', async () => {
  for (let time = 0; time < 2; time += 1) {
    const { status, output } = await callTool(gateway, 'traps__act', {});
    expect([status, output]).toEqual(['error', 'it failed: unreachable']);
  }
  expect((await pluginB(gateway, 'traps'))?.status).toBe('loaded');
});

test('memory stops growing at its limit, and the figure says so', async () => {
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
    `it failed: its buffers would be more than ${2 * 1_048_576} bytes`,
  ]);
});
