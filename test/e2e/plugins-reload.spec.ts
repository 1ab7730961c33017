import { readdirSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { FETCH, FETCHING, fetchPermissions, moduleText } from '../harness/plugin-modules.js';
import { PluginBench, pluginB } from '../harness/plugins.js';

const TWO = { text: moduleText({ text: 'two' }), version: '2.0.0' };

let bench: PluginBench;
let gateway: TestGateway;
let receiver: HookReceiver;
let server: Server;
const held: ServerResponse[] = [];
beforeAll(async () => {
  // Holds every request until a test releases it.
  server = createServer((_, response) => held.push(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  receiver = await HookReceiver.open();
  bench = await PluginBench.make();
  await bench.addShipped();
  const waits = {
    text: moduleText({ declarations: FETCHING, work: `(drop ${FETCH})`, text: 'one' }),
    more: fetchPermissions(host, { url: `http://${host}/` }),
  };
  await bench.addAll({ spare: { text: moduleText() }, holding: waits, crowded: waits, told: waits });
  gateway = await startTestGateway({ env: { ...bench.env, GATEWAY__PLUGINS__MAX_CALL_MS: '60000' } });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
  await bench.clear();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function call(tool: string): Promise<string> {
  const context = { sessionId: 's', channel: 'api', userId: 'u' };
  const { status, content } = await gateway.tools.call(tool, {}, context, AbortSignal.timeout(25_000));
  return `${status}: ${content}`;
}

/** Releases every held request from now on until the calls have ended. */
async function releaseUntilDone<Result>(calls: Promise<Result>): Promise<Result> {
  const letting = setInterval(() => {
    for (const response of held.splice(0)) response.end();
  }, 5);
  return calls.finally(() => clearInterval(letting));
}

const reload = (name: string) => gateway.b.post<{ version: string }>(`/plugins/${name}/reload`);

test('a call that is running during a reload finishes on its version', async () => {
  const begun = call('holding__act');
  await eventually(() => expect(held).toHaveLength(1));
  const accepted = call('holding__act');
  await bench.addAll({ holding: TWO });
  expect((await reload('holding')).body.version).toBe('2.0.0');
  expect(await call('holding__act')).toBe('success: two');
  expect(held).toHaveLength(1);
  expect(await releaseUntilDone(Promise.all([begun, accepted]))).toEqual(['success: one', 'success: one']);
  expect(await call('holding__act')).toBe('success: two');
});

test('64 calls of a plugin wait for their turn, and the next fails because it is busy', async () => {
  const calls = Array.from({ length: 65 }, () => call('crowded__act'));
  await eventually(() => expect(held).toHaveLength(1));
  expect(await call('crowded__act')).toBe('error: the plugin is busy; try again later');
  // Running calls continue when the plugin is disabled.
  await gateway.b.post('/plugins/crowded/disable');
  expect(new Set(await releaseUntilDone(Promise.all(calls)))).toEqual(new Set(['success: one']));
  expect(await call('crowded__act')).toBe('error: There is no tool "crowded__act".');
});

test('reloads under a hundred calls a second fail none of them', async () => {
  const outcomes: Promise<string>[] = [];
  const over = new AbortController();
  const calling = (async () => {
    const startedAt = performance.now();
    while (!over.signal.aborted) {
      outcomes.push(call('spare__act'));
      // At a fixed rate, however long a sleep takes on this machine.
      await sleep(Math.max(0, startedAt + outcomes.length * 10 - performance.now()));
    }
  })();
  for (let time = 0; time < 10; time += 1) expect((await reload('spare')).status).toBe(200);
  await eventually(() => expect(outcomes.length).toBeGreaterThan(100));
  over.abort();
  await calling;
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['success: done']));
});

/** Threads and open descriptors of this process; Linux only. */
const inUse = (): number[] => ['task', 'fd'].map((what) => readdirSync(`/proc/self/${what}`).length);

(process.platform === 'linux' ? test : test.skip)(
  'thirty reloads leave as many threads and descriptors as there were',
  async () => {
    await reload('spare');
    const before = inUse();
    for (let time = 0; time < 30; time += 1) await reload('spare');
    await eventually(() => {
      const [threads = 0, descriptors = 0] = inUse().map((count, at) => count - (before[at] ?? 0));
      expect(threads).toBeLessThan(10);
      expect(descriptors).toBeLessThan(10);
    });
  },
);

test('webhooks get the changes of callers, and nothing about what a start loads', async () => {
  await gateway.a.post('/hooks', { url: receiver.url(), events: ['plugin.*'] });
  await bench.addAll({ told: TWO });
  await reload('told');
  await gateway.b.post('/plugins/told/disable');
  await gateway.b.post('/plugins/told/disable');
  await gateway.a.post('/plugins/told/enable');
  await bench.write('told', Buffer.from('nothing'), '', '3.0.0');
  expect((await reload('told')).status).toBe(409);
  const later = await startTestGateway({ env: bench.env, database: gateway.database });
  expect((await pluginB(later, 'spare'))?.status).toBe('loaded');
  await later.stop();
  await gateway.b.post('/plugins/spare/disable');
  const told = { name: 'told', version: '2.0.0' };
  await eventually(() =>
    expect(receiver.bodies().map(({ sequence, event, data }) => [sequence, event, data])).toEqual([
      [1, 'plugin.loaded', told],
      [2, 'plugin.disabled', told],
      [3, 'plugin.loaded', told],
      [4, 'plugin.disabled', { name: 'spare', version: '1.0.0' }],
    ]),
  );
});

test('a failed load or offer is audited with the reason and changes nothing', async () => {
  await gateway.b.post('/plugins/measures/disable');
  const withdraw = gateway.tools.register({
    ...{ name: 'measures__count_text', description: 'It was here first.', inputSchema: { type: 'object' } },
    run: () => Promise.resolve('here'),
  });
  const taken = await gateway.a.post<{ error: string }>('/plugins/measures/enable');
  expect([taken.status, taken.text]).toEqual([409, expect.stringContaining('already')]);
  expect((await pluginB(gateway, 'measures'))?.status).toBe('disabled');
  withdraw();
  expect((await gateway.a.post('/plugins/measures/enable')).status).toBe(200);
  await bench.writeManifest('measures', 'name = ');
  expect((await reload('measures')).status).toBe(409);
  expect((await pluginB(gateway, 'measures'))?.status).toBe('loaded');
  const rows = await gateway.database.query<{ action: string; outcome: string; reason: string | null }>(
    `SELECT action, outcome, details->>'reason' AS reason, actor FROM audit_entries
     WHERE target = 'measures' ORDER BY id`,
  );
  const actor = 'test';
  expect(rows).toEqual([
    { action: 'plugin.disabled', outcome: 'success', reason: null, actor },
    {
      action: 'plugin.enabled',
      outcome: 'error',
      reason: expect.stringContaining('already') as string,
      actor,
    },
    { action: 'plugin.enabled', outcome: 'success', reason: null, actor },
    {
      action: 'plugin.reloaded',
      outcome: 'error',
      reason: expect.stringContaining('not TOML') as string,
      actor,
    },
  ]);
});
