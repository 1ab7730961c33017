import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool } from '../harness/mcp.js';
import { FETCH, FETCHING, fetchPermissions, moduleText } from '../harness/plugin-modules.js';
import { PluginBench, pluginB } from '../harness/plugins.js';

const CONTEXT = { sessionId: 's', channel: 'api', userId: 'u' };
const SECRET = 'the-secret-of-the-weather';

/** A module that makes the request in its configuration and returns the body unchanged. */
const fetching = moduleText({ declarations: FETCHING, call: `(call $answer_buffer ${FETCH}) (i32.const 0)` });

let bench: PluginBench;
let gateway: TestGateway;
let other: TestGateway;
let server: Server;
let origin: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const text = `${request.url ?? ''} for ${String(request.headers['x-key'])} at ${String(request.headers.host)}`;
    response.end(JSON.stringify({ content: [{ type: 'text', text }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  origin = `http://${host}`;
  bench = await PluginBench.make();
  await bench.addShipped();
  const request = {
    url: `${origin}/weather`,
    headers: { 'X-Key': SECRET, Host: 'internal.example.com' },
  };
  await bench.addAll({
    spare: { text: moduleText({ text: 'here' }) },
    fetches: { text: fetching, more: fetchPermissions(host, request) },
    strays: { text: fetching, more: fetchPermissions('api.example.com', request) },
  });
  const env = { ...bench.env, GATEWAY__PLUGINS__INSTALLED__FETCHES__CONFIG__KEY: SECRET };
  gateway = await startTestGateway({ env });
  other = await startTestGateway({ env, database: gateway.database });
}, 60_000);
afterAll(async () => {
  await other.stop();
  await gateway.stop();
  await bench.clear();
  await new Promise((resolve) => server.close(resolve));
});

describe.each(['a', 'b'] as const)('a turn in Profile %s', (profile) => {
  test('calls the tool of the shipped plugin and uses its result', async () => {
    const made = await gateway[profile].post<{ id?: string; session_id?: string }>('/sessions', {});
    const id = made.body.session_id ?? made.body.id ?? '';
    const content = '/call measures__count_text {"text":"naïve 日本 \\"quoted\\"\\nline two 😀"}';
    const { status, body } = await gateway[profile].post<{ content: string; tool_calls: unknown[] }>(
      `/sessions/${id}/messages`,
      { content },
    );
    expect(status).toBe(200);
    expect(body.tool_calls).toEqual([
      expect.objectContaining({
        name: 'measures__count_text',
        status: 'success',
        output: 'characters: 28, words: 6, lines: 2, bytes: 36',
      }),
    ]);
    expect(body.content).toContain('words: 6');
  });
});

test.each([
  [{ value: 100, from: 'C', to: 'F' }, '100.0 C = 212.0 F'],
  [{ value: 26.2, from: 'mi', to: 'km' }, '26.2 mi = 42.1648128 km'],
  [{ value: 1, from: 'GiB', to: 'MB' }, '1.0 GiB = 1073.741824 MB'],
])('the shipped plugin converts %j', async (args, expected) => {
  expect((await callTool(gateway, 'measures__convert_unit', args)).output).toBe(expected);
});

test('a tool reports what it cannot do, and invalid arguments never reach it', async () => {
  const wrong = await callTool(gateway, 'measures__convert_unit', { value: 1, from: 'km', to: 'kg' });
  expect([wrong.status, wrong.output]).toEqual([
    'error',
    expect.stringContaining('Cannot convert from km to kg'),
  ]);
  const unfit = await callTool(gateway, 'measures__convert_unit', { value: 'one' });
  expect(unfit.output).toContain('The arguments do not fit');
});

test('the shipped plugin frees its memory: hundreds of calls stay within its limit', async () => {
  const text = 'word '.repeat(200);
  for (let time = 0; time < 200; time += 1) {
    const { status, content } = await gateway.tools.call(
      'measures__count_text',
      { text },
      CONTEXT,
      AbortSignal.timeout(10_000),
    );
    expect([status, content]).toEqual(['success', expect.stringContaining('words: 200')]);
  }
});

test('a plugin reaches its granted host, under no other name, and its secrets stay secret', async () => {
  const { status, output } = await callTool(gateway, 'fetches__act', {});
  expect([status, output]).toEqual(['success', `/weather for ***REDACTED*** at ${origin.slice(7)}`]);
});

test('and no other host', async () => {
  const { status, output } = await callTool(gateway, 'strays__act', {});
  expect([status, output]).toEqual(['error', 'it failed: this host is not listed in permissions.net.http']);
});

test('disabled holds on all replicas and after a restart, and so does enabled', async () => {
  await gateway.b.post('/plugins/spare/disable');
  await eventually(async () => expect((await pluginB(other, 'spare'))?.status).toBe('disabled'));
  expect(other.tools.sourceOf('spare__act')).toBeUndefined();
  const later = await startTestGateway({ env: bench.env, database: gateway.database });
  expect((await pluginB(later, 'spare'))?.status).toBe('disabled');
  await later.a.post('/plugins/spare/enable');
  await eventually(async () => {
    expect((await pluginB(gateway, 'spare'))?.status).toBe('loaded');
    expect((await pluginB(other, 'spare'))?.status).toBe('loaded');
  });
  await later.stop();
});

test('a reload reaches the other replicas', async () => {
  await bench.add('spare', moduleText({ text: 'new' }), '', '1.1.0');
  expect((await gateway.b.post('/plugins/spare/reload')).status).toBe(200);
  await eventually(async () => expect((await pluginB(other, 'spare'))?.version).toBe('1.1.0'));
  expect((await callTool(other, 'spare__act', {})).output).toBe('new');
});

test('pins: only the pinned plugin.toml is loaded', async () => {
  const toml = await bench.read('measures', 'plugin.toml');
  const pin = createHash('sha256').update(toml).digest('hex');
  const pinned = await startTestGateway({
    env: {
      ...bench.env,
      GATEWAY__PLUGINS__INTEGRITY: 'pin',
      GATEWAY__PLUGINS__INSTALLED__MEASURES__PIN: pin,
      GATEWAY__PLUGINS__INSTALLED__SPARE__PIN: pin,
    },
  });
  expect((await pluginB(pinned, 'measures'))?.status).toBe('loaded');
  expect((await pluginB(pinned, 'spare'))?.error).toBe('plugin.toml does not match its pin');
  expect((await pluginB(pinned, 'strays'))?.error).toContain('plugins.installed.strays.pin is not set');
  await pinned.stop();
});
