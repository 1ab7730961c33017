import { join } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HookReceiver, type ReceivedAttempt } from '../harness/hook-receiver.js';
import { HttpCaller } from '../harness/http-caller.js';
import { verifyAttempt } from '../harness/webhook-judges.js';

jest.setTimeout(120_000);

const bench = new ProcessBench();
const OLD = 'an old secret that is not base64';
let receiver: HookReceiver;
let env: { GATEWAY_DATA_DIR: string };
let gateway: GatewayProcess;
let api: HttpCaller;
let hookId: string;
beforeAll(async () => {
  receiver = await HookReceiver.open();
  env = { GATEWAY_DATA_DIR: join(await bench.folder(), 'data') };
  gateway = await bench.serve({ env });
  api = new HttpCaller(gateway.a, gateway.token);
  const wish = { url: receiver.url(), events: ['session.created'], secret: OLD };
  hookId = (await api.post<{ id: string }>('/hooks', wish)).body.id;
});
afterAll(async () => {
  await bench.clear();
  await receiver.close();
});

const run = (...args: string[]) => bench.run(['hooks', ...args], { env });

test('loopback is reachable with the embedded database, and the gateway says so', async () => {
  expect(hookId).toMatch(/^hook_/);
  await eventually(async () => {
    const { body } = await api.get<{ entries: { message: string }[] }>('/logs?component=outbound');
    expect(body.entries[0]?.message).toMatch(/may reach these networks .*127\.0\.0\.0\/8/);
  });
});

test('list shows how webhooks are doing, and never a secret', async () => {
  const { code, stdout } = await run('list');
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^${hookId} +active +0 +session.created +${receiver.url()}$`, 'm'));
  const json = JSON.parse((await run('list', '--json')).stdout) as { hooks: object[] };
  expect(json.hooks).toMatchObject([{ id: hookId, active: true, waiting: 0 }]);
  expect(JSON.stringify(json)).not.toContain('secret');
});

test('ping reaches the receiver and prints what it answered; deliveries shows it', async () => {
  const ping = await run('ping', hookId);
  expect([ping.code, ping.stderr]).toEqual([0, expect.stringMatching(/^evt_\w+ was answered with 200\.$/m)]);
  expect(receiver.bodies().at(-1)).toMatchObject({ event: 'hook.ping', data: { hook_id: hookId } });
  receiver.behaviour = () => 500;
  const failed = await run('ping', hookId);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(/^evt_\w+: 500$/m)]);
  const { stdout } = await run('deliveries', hookId);
  // The next attempt comes after five seconds, and on a busy machine the command may take longer.
  expect(stdout).toMatch(/hook\.ping +2 +pending +[12] +500/);
  expect(stdout).toMatch(/hook\.ping +1 +delivered +1 +200/);
  const pending = await run('deliveries', hookId, '--status', 'pending', '--json');
  expect((JSON.parse(pending.stdout) as { deliveries: object[] }).deliveries).toHaveLength(1);
});

test('a webhook that was given up is replayed in order, with the same bytes', async () => {
  receiver.behaviour = () => 500;
  await api.post('/sessions', {});
  await eventually(() =>
    expect(receiver.bodies().filter(({ event }) => event === 'session.created')).toHaveLength(1),
  );
  receiver.behaviour = () => 410;
  await api.post('/sessions', {});
  await eventually(async () => expect((await run('list')).stdout).toMatch(/given up \(gone\)/));
  const ping = await run('ping', hookId);
  expect(ping.code).toBe(1);
  expect(ping.stderr).toContain('given up (gone)');
  expect(ping.stderr).toContain(`agent-gateway hooks replay ${hookId}`);
  const before = receiver.attempts.filter(({ json }) => json.sequence > 1).map(({ body }) => body);
  receiver.attempts.length = 0;
  receiver.behaviour = () => 200;
  const replay = await run('replay', hookId);
  expect([replay.code, replay.stderr]).toEqual([0, expect.stringMatching(/^3 deliveries go out again/m)]);
  await eventually(() => expect(receiver.attempts).toHaveLength(3));
  expect(receiver.bodies().map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
  for (const { body } of receiver.attempts) expect(before).toContain(body);
  expect((await run('list')).stdout).toMatch(/ active +0 /);
});

test('rotate-secret prints nothing but a new secret; both sign until the old one expires', async () => {
  const rotated = await run('rotate-secret', hookId, '--keep-old', '1h');
  expect([rotated.code, rotated.stdout]).toEqual([0, expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}\n$/)]);
  receiver.attempts.length = 0;
  expect((await run('ping', hookId)).code).toBe(0);
  for (const secret of [OLD, rotated.stdout.trim()])
    verifyAttempt(receiver.attempts[0] as ReceivedAttempt, secret);
  expect((await run('rotate-secret', hookId, '--keep-old', '0s')).code).toBe(0);
});

test.each([
  [['replay', 'hook_nope'], 1],
  [['ping', 'hook_nope'], 1],
  [['deliveries', 'hook_nope'], 1],
  [['rotate-secret', 'hook_nope'], 1],
  [['deliveries', 'x', '--limit', '0'], 2],
  [['replay', 'x', '--since', 'yesterday'], 2],
  [['deliveries'], 2],
])('hooks %j ends with %d', async (args, code) => expect((await run(...args)).code).toBe(code));
