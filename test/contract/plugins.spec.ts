import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool } from '../harness/mcp.js';
import { moduleText } from '../harness/plugin-modules.js';
import { PluginBench, pluginB } from '../harness/plugins.js';
import { expectError } from './support/envelope.js';
import { sortedKeys, type Wire } from './support/faces.js';

let bench: PluginBench;
let gateway: TestGateway;
beforeAll(async () => {
  bench = await PluginBench.make();
  await bench.addShipped();
  await bench.writeManifest('broken', 'name = ');
  gateway = await startTestGateway({ env: bench.env });
});
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

const itemA = async (name: string) => {
  const { body } = await gateway.a.get<{ plugins: Wire[] }>('/plugins');
  return body.plugins.find((plugin) => plugin['name'] === name);
};

test('4.1 | GET | /plugins | none | 200; object with plugins (array)', async () => {
  const { status, body } = await gateway.a.get<{ plugins: Wire[] }>('/plugins');
  expect([status, sortedKeys(body)]).toEqual([200, ['plugins']]);
  expect(await itemA('measures')).toEqual({
    name: 'measures',
    version: '1.0.0',
    enabled: true,
    type: 'tool',
    memory_usage_mb: 1,
  });
});

test('4.2 | GET | /plugins | none | 200; object with plugins (array)', async () => {
  const { status, body } = await gateway.b.get<{ plugins: Wire[] }>('/plugins');
  expect([status, sortedKeys(body)]).toEqual([200, ['plugins']]);
  const measures = await pluginB(gateway, 'measures');
  expect(measures).toEqual({
    name: 'measures',
    version: '1.0.0',
    status: 'loaded',
    capabilities: ['tool:count_text', 'tool:convert_unit'],
    memory_usage_bytes: expect.any(Number) as number,
  });
  // At least one page of linear memory, and at most its limit plus the host's buffers.
  expect(measures?.memory_usage_bytes).toBeGreaterThanOrEqual(65_536);
  expect(measures?.memory_usage_bytes).toBeLessThanOrEqual(8 * 1_048_576);
});

test('a plugin that does not load is named, with the reason, and the others are served', async () => {
  const broken = await pluginB(gateway, 'broken');
  expect([broken?.status, broken?.capabilities, broken?.memory_usage_bytes]).toEqual(['failed', [], 0]);
  expect(broken?.error).toContain('plugin.toml is not TOML');
  expect(await itemA('broken')).toMatchObject({ enabled: false, memory_usage_mb: 0 });
});

test('2.8 | plugins | object: loaded (integer), total (integer)', async () => {
  expect((await gateway.b.get<Wire>('/status')).body['plugins']).toEqual({ loaded: 1, total: 2 });
  expect((await gateway.a.get<Wire>('/info')).body['plugins_loaded']).toBe(1);
});

test('4.2 | POST | /plugins/:name/reload | none | 200; name, status, version', async () => {
  const { status, body } = await gateway.b.post('/plugins/measures/reload');
  expect([status, body]).toEqual([200, { name: 'measures', status: 'loaded', version: '1.0.0' }]);
});

test('4.2 | POST | /plugins/:name/disable | none | 200; name, status', async () => {
  for (let time = 0; time < 2; time += 1) {
    const { status, body } = await gateway.b.post('/plugins/measures/disable');
    expect([status, body]).toEqual([200, { name: 'measures', status: 'disabled' }]);
  }
});

test('a reload of a disabled plugin loads it, which is the only way back in Profile B', async () => {
  const { status, body } = await gateway.b.post('/plugins/measures/reload');
  expect([status, body]).toEqual([200, { name: 'measures', status: 'loaded', version: '1.0.0' }]);
  expect((await callTool(gateway, 'measures__count_text', { text: 'a b' })).output).toContain('words: 2');
});

test('3 | loaded | POST plugins/:name/disable (B) | plugin exists | disabled | plugin is not unloaded; 200', async () => {
  const before = await pluginB(gateway, 'measures');
  expect(before?.status).toBe('loaded');
  expect((await gateway.b.post('/plugins/measures/disable')).status).toBe(200);
  expect(await pluginB(gateway, 'measures')).toEqual({ ...before, status: 'disabled' });
  expect(gateway.tools.sourceOf('measures__count_text')).toBeUndefined();
});

test.each([
  ['4.1 | POST | /plugins/:name/enable | none | enables plugin; response not shown', 'enable', true],
  ['4.1 | POST | /plugins/:name/disable | none | disables plugin; response not shown', 'disable', false],
] as const)('%s', async (_row, verb, enabled) => {
  for (let time = 0; time < 2; time += 1) {
    const { status, body } = await gateway.a.post<Wire>(`/plugins/measures/${verb}`);
    expect([status, body]).toEqual([200, expect.objectContaining({ name: 'measures', enabled })]);
    expect(sortedKeys(body)).toEqual(['enabled', 'memory_usage_mb', 'name', 'type', 'version']);
  }
});

test.each([
  [
    '3 | disabled | POST plugins/:name/enable (A) | plugin exists | enabled | response not shown',
    'enable',
    true,
  ],
  [
    '3 | enabled | POST plugins/:name/disable (A) | plugin exists | disabled | response not shown',
    'disable',
    false,
  ],
] as const)('%s', async (_row, verb, enabled) => {
  expect((await itemA('measures'))?.['enabled']).toBe(!enabled);
  expect((await gateway.a.post(`/plugins/measures/${verb}`)).status).toBe(200);
  expect((await itemA('measures'))?.['enabled']).toBe(enabled);
  expect(gateway.tools.sourceOf('measures__count_text') !== undefined).toBe(enabled);
});

test('3 | Plugin | loaded, disabled (Profile B); Profile A has boolean enabled', async () => {
  const words = async () => [
    (await pluginB(gateway, 'measures'))?.status,
    (await itemA('measures'))?.['enabled'],
  ];
  expect(await words()).toEqual(['disabled', false]);
  expect((await gateway.a.post('/plugins/measures/enable')).status).toBe(200);
  expect(await words()).toEqual(['loaded', true]);
  expect((await callTool(gateway, 'measures__count_text', { text: 'a b' })).status).toBe('success');
});

describe('3 | loaded | POST plugins/:name/reload (B) | plugin exists | loaded | unload then load again; 200 with name, status, version', () => {
  test('what is in its folder now is loaded in the place of what was', async () => {
    await bench.add('moving', moduleText({ text: 'one' }));
    expect((await gateway.b.post('/plugins/moving/reload')).status).toBe(200);
    expect((await callTool(gateway, 'moving__act', {})).output).toBe('one');
    await bench.add('moving', moduleText({ text: 'two' }), '', '2.0.0');
    expect(await pluginB(gateway, 'moving')).toMatchObject({ status: 'loaded', version: '1.0.0' });
    const { status, body } = await gateway.b.post('/plugins/moving/reload');
    expect([status, body]).toEqual([200, { name: 'moving', status: 'loaded', version: '2.0.0' }]);
    expect(await pluginB(gateway, 'moving')).toMatchObject({ status: 'loaded', version: '2.0.0' });
    expect((await callTool(gateway, 'moving__act', {})).output).toBe('two');
  });

  test('a reload that fails is 409 with the reason, and the old version goes on serving', async () => {
    await bench.write('moving', Buffer.from('nothing'), '', '3.0.0');
    const refused = await gateway.b.post('/plugins/moving/reload');
    const { message } = expectError('b', refused, 409, 'conflict');
    expect(message).toContain('not a core WebAssembly module');
    expect(await pluginB(gateway, 'moving')).toMatchObject({ status: 'loaded', version: '2.0.0' });
    expect((await callTool(gateway, 'moving__act', {})).output).toBe('two');
  });
});

test('enabling a plugin that cannot be loaded is 409', async () => {
  expectError('a', await gateway.a.post('/plugins/broken/enable'), 409, 'conflict');
  expectError('b', await gateway.b.post('/plugins/broken/reload'), 409, 'conflict');
});

test.each(['..', '%2e%2e%2fplugins', '.', 'measures%00', '__proto__', 'nobody'])(
  'the name %s is 404',
  async (name) => {
    const { status } = await gateway.b.post(`/plugins/${name}/reload`);
    expect([400, 404, 405]).toContain(status);
  },
);

test('plugins:write is needed, and plugins:read', async () => {
  const reader = gateway.caller('b', await gateway.mint({ scopes: ['plugins:read'] }));
  expect((await reader.get('/plugins')).status).toBe(200);
  expectError('b', await reader.post('/plugins/measures/disable'), 403, 'forbidden');
  const other = gateway.caller('a', await gateway.mint({ scopes: ['status:read'] }));
  expectError('a', await other.get('/plugins'), 403, 'forbidden');
});

test('settings that choose what runs can be set in the file and the environment only', async () => {
  for (const key of ['directory', 'integrity', 'max_memory_mb', 'max_call_ms']) {
    expectError('b', await gateway.b.patch('/config', { [`plugins.${key}`]: 1 }), 403, 'forbidden');
  }
});

test('every change is in the audit under the name of the token', async () => {
  const rows = await gateway.database.query<{ action: string; actor: string; target: string }>(
    `SELECT DISTINCT action, actor, target FROM audit_entries WHERE target = 'measures' AND action LIKE 'plugin.%' ORDER BY action`,
  );
  expect(rows).toEqual(
    ['disabled', 'enabled', 'reloaded'].map((verb) => ({
      action: `plugin.${verb}`,
      actor: 'test',
      target: 'measures',
    })),
  );
});

test('metrics show status and memory of every plugin', async () => {
  const { text } = await gateway.a.get('/metrics');
  expect(text).toMatch(/^agent_gateway_plugin_status\{plugin="measures",status="loaded"\} 1$/m);
  expect(text).toMatch(/^agent_gateway_plugin_status\{plugin="broken",status="failed"\} 1$/m);
  expect(text).toMatch(/^agent_gateway_plugin_memory_bytes\{plugin="measures"\} [1-9]\d+$/m);
});
