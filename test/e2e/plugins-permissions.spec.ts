import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool } from '../harness/mcp.js';
import { FIRST_TEXT_AT, hostImport, moduleText, texts } from '../harness/plugin-modules.js';
import { PluginBench, pluginB } from '../harness/plugins.js';

const SECRET = 'a-value-that-nobody-may-read';
const NOTHING_GIVEN = 0;
const BAD_DESCRIPTOR = 8;
const NOT_SUPPORTED = 52;
/** WASI functions, with their parameters and expected results. */
const ASKED: readonly [name: string, parameters: string, answer: number][] = [
  ['args_sizes_get', 'i32 i32', NOTHING_GIVEN],
  ['environ_sizes_get', 'i32 i32', NOTHING_GIVEN],
  ['fd_prestat_get', 'i32 i32', BAD_DESCRIPTOR],
  ['fd_prestat_dir_name', 'i32 i32 i32', NOT_SUPPORTED],
  ['path_open', 'i32 i32 i32 i32 i32 i64 i64 i32 i32', NOT_SUPPORTED],
  ['path_filestat_get', 'i32 i32 i32 i32 i32', NOT_SUPPORTED],
  ['path_unlink_file', 'i32 i32 i32', NOT_SUPPORTED],
  ['path_readlink', 'i32 i32 i32 i32 i32 i32', NOT_SUPPORTED],
  ['fd_read', 'i32 i32 i32 i32', NOT_SUPPORTED],
  ['fd_readdir', 'i32 i32 i32 i64 i32', NOT_SUPPORTED],
  ['fd_write', 'i32 i32 i32 i32', BAD_DESCRIPTOR],
  ['sock_accept', 'i32 i32 i32', NOT_SUPPORTED],
  ['sock_recv', 'i32 i32 i32 i32 i32 i32', NOT_SUPPORTED],
  ['sock_send', 'i32 i32 i32 i32 i32', NOT_SUPPORTED],
  ['poll_oneoff', 'i32 i32 i32 i32', NOT_SUPPORTED],
];

const resultText = (text: string): string => JSON.stringify({ content: [{ type: 'text', text }] });

/**
 * A module that calls every WASI function with descriptor 3 and address 64, and returns one character per result,
 * counted from "0".
 */
function asking(): string {
  const result = resultText('?'.repeat(ASKED.length));
  const imports = ASKED.map(
    ([name, parameters]) =>
      `(import "wasi_snapshot_preview1" "${name}" (func $${name} (param ${parameters}) (result i32)))`,
  );
  const asked = ASKED.map(([name, parameters], index) => {
    const given = parameters.split(' ').map((type, at) => `(${type}.const ${at === 0 ? 3 : 64})`);
    const at = FIRST_TEXT_AT + result.indexOf('?') + index;
    return `(i32.store8 (i32.const ${at}) (i32.add (i32.const 48) (call $${name} ${given.join(' ')})))`;
  });
  // Writes the numbers of arguments and variables to places that held other values.
  const numbers = ['(i32.const 3)', '(i32.const 64)'];
  const before = numbers.map((at) => `(i32.store ${at} (i32.const 7))`);
  const after = numbers.map((at) => `(if (i32.load ${at}) (then (unreachable)))`);
  return moduleText({
    declarations: [...imports, texts(result)].join('\n'),
    call: `${[...before, ...asked, ...after].join('\n')}
      (call $answer (i32.const ${FIRST_TEXT_AT}) (i32.const ${result.length})) (i32.const 0)`,
  });
}

const KV = [
  hostImport('var_get', '(param i64) (result i64)'),
  hostImport('var_set', '(param i64 i64)'),
  texts('key', resultText('kept before'), 'another'),
].join('\n');
const keeping = moduleText({
  declarations: KV,
  call: `(if (i64.eqz (call $var_get (call $text_0)))
      (then (call $var_set (call $text_0) (call $text_1)) (return (i32.const 7))))
    (call $answer_buffer (call $var_get (call $text_0))) (i32.const 0)`,
});
const hoarding = moduleText({
  declarations: KV,
  work: `(call $var_set (call $text_0) (call $alloc (i64.const 500000)))
    (call $var_set (call $text_2) (call $alloc (i64.const 600000)))`,
});
const reading = moduleText({
  declarations: [hostImport('config_get', '(param i64) (result i64)'), texts('answer', 'unknown')].join('\n'),
  call: `(if (i64.ne (call $config_get (call $text_1)) (i64.const 0)) (then (unreachable)))
    (call $answer_buffer (call $config_get (call $text_0))) (i32.const 0)`,
});
const INJECTED = `fine\n{"level":"error","module":"database"}\r\u001b[31m ${SECRET}`;
const logging = moduleText({
  declarations: [
    hostImport('log_warn', '(param i64)'),
    '(global $lines (mut i32) (i32.const 0))',
    texts(INJECTED),
  ].join('\n'),
  work: `(global.set $lines (i32.const 0))
    (loop $next (call $log_warn (call $text_0)) (global.set $lines (i32.add (global.get $lines) (i32.const 1)))
      (br_if $next (i32.lt_u (global.get $lines) (i32.const 150))))`,
});

let bench: PluginBench;
let gateway: TestGateway;
beforeAll(async () => {
  bench = await PluginBench.make();
  const kv = '[permissions]\nkv = true\n';
  const config = `[config]\nanswer = '${resultText('from plugin.toml')}'\n`;
  await bench.addAll({
    asks: { text: asking() },
    keeps: { text: keeping, more: kv },
    'keeps-too': { text: keeping, more: kv },
    hoards: { text: hoarding, more: kv },
    reads: { text: reading, more: `[permissions]\nconfig = true\n${config}` },
    overridden: { text: reading, more: `[permissions]\nconfig = true\n${config}` },
    logs: { text: logging, more: '[permissions]\nlog = true\n' },
    'keeps-secretly': { text: keeping },
    'reads-secretly': { text: reading, more: config },
    'logs-secretly': { text: logging },
  });
  gateway = await startTestGateway({
    env: {
      ...bench.env,
      GATEWAY__PLUGINS__INSTALLED__LOGS__CONFIG__KEY: SECRET,
      GATEWAY__PLUGINS__INSTALLED__OVERRIDDEN__CONFIG__ANSWER: resultText('from the settings'),
    },
  });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

const act = async (name: string): Promise<string> => (await callTool(gateway, `${name}__act`, {})).output;

test('WASI gives no arguments, no environment, no files and no sockets', async () => {
  const answers = [...(await act('asks'))].map((character) => character.charCodeAt(0) - 48);
  expect(ASKED.map(([name], at) => [name, answers[at]])).toEqual(
    ASKED.map(([name, , answer]) => [name, answer]),
  );
});

test.each([
  ['keeps-secretly', 'var_get', 'kv'],
  ['reads-secretly', 'config_get', 'config'],
  ['logs-secretly', 'log_warn', 'log'],
])('%s is not loaded: %s needs the permission %s', async (name, wanted, permission) => {
  const plugin = await pluginB(gateway, name);
  expect([plugin?.status, plugin?.error]).toEqual(['failed', expect.stringContaining(`env.${wanted}`)]);
  expect(plugin?.error).toContain(`needs the permission ${permission}`);
});

test('stored values are there at the next call, for this plugin only, and gone with its thread', async () => {
  expect(await act('keeps')).toBe('it answered with code 7');
  expect(await act('keeps')).toBe('kept before');
  expect(await act('keeps-too')).toBe('it answered with code 7');
  await gateway.b.post('/plugins/keeps/reload');
  expect(await act('keeps')).toBe('it answered with code 7');
});

test('more than 1 MiB is not stored, and stored values count as memory', async () => {
  expect(await act('hoards')).toBe('it failed: var_set stores at most 1024 values and 1048576 bytes in all');
  const used = (await pluginB(gateway, 'hoards'))?.memory_usage_bytes;
  expect(used).toBeGreaterThanOrEqual(500_000);
  expect(used).toBeLessThan(4 * 1_048_576);
});

test('its configuration comes from plugin.toml, and the settings win', async () => {
  expect([await act('reads'), await act('overridden')]).toEqual(['from plugin.toml', 'from the settings']);
});

test('a line that a plugin logs is one line under its name, without secrets, at most 100 a call', async () => {
  expect(await act('logs')).toBe('done');
  const lines = gateway.logLines.filter((line) => line.includes('plugin::logs'));
  expect(lines).toHaveLength(100);
  expect(new Set(lines.map((line) => line.split('\n').length))).toEqual(new Set([2]));
  const { message, level, module } = JSON.parse(lines[0] ?? '') as Record<string, string>;
  expect([level, module]).toEqual(['warn', 'plugin::logs']);
  expect(message).toContain('***REDACTED***');
  expect(lines.join('')).not.toContain(SECRET);
  expect(lines.join('')).not.toContain('\u001b');
  expect(message).not.toContain('\u001b');
  expect(gateway.logLines.filter((line) => line.startsWith('{"level":"error","module":"database"'))).toEqual(
    [],
  );
});
