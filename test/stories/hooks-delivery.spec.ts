import { HookStore } from '../../src/areas/hooks/hook.store.js';
import { newWebhookSecret } from '../../src/common/text/webhook-secret.js';
import { eventually } from '../harness/eventually.js';
import { HookBench } from '../harness/hook-bench.js';
import type { ReceivedAttempt } from '../harness/hook-receiver.js';
import { verifyAttempt } from '../harness/webhook-judges.js';

let bench: HookBench;
beforeAll(async () => {
  bench = await HookBench.open();
});
beforeEach(() => bench.openReceiver());
afterEach(() => bench.forget());
afterAll(() => bench.close());

describe('2.4 | secret | String | supplied on registration; not returned in the Profile B responses', () => {
  test.each([
    ['a whsec_ secret', `whsec_${Buffer.from('twenty-four bytes of key').toString('base64')}`],
    ['any other secret, as raw bytes', 'ein Schlüssel, der keiner ist'],
  ])(
    'deliveries are signed with %s, and two libraries that are not ours verify them',
    async (_what, secret) => {
      await bench.register({ secret });
      await bench.makeSession();
      await eventually(() => expect(bench.receiver.attempts).toHaveLength(1));
      const [attempt] = bench.receiver.attempts as [ReceivedAttempt];
      verifyAttempt(attempt, secret);
      expect(() => verifyAttempt({ ...attempt, body: `${attempt.body} ` }, secret)).toThrow();
      expect(() => verifyAttempt(attempt, newWebhookSecret())).toThrow();
    },
  );
});

test('without a secret nothing is signed', async () => {
  await bench.register();
  await bench.makeSession();
  await eventually(() => expect(bench.receiver.attempts).toHaveLength(1));
  expect(bench.receiver.attempts[0]?.headers).not.toHaveProperty('webhook-signature');
});

test('after a rotation both secrets verify, and only the new one once the old one has expired', async () => {
  const [old, fresh] = [newWebhookSecret(), newWebhookSecret()];
  const id = await bench.register({ secret: old });
  const store = bench.gateway.started.app.get(HookStore, { strict: false });
  expect(await store.rotate(id, fresh, 3600)).toBe(true);
  await bench.makeSession();
  await eventually(() => expect(bench.receiver.attempts).toHaveLength(1));
  for (const secret of [old, fresh]) verifyAttempt(bench.receiver.attempts[0] as ReceivedAttempt, secret);
  await bench.database.query(`UPDATE hooks SET old_secret_until = now() - interval '1 second'`);
  await bench.makeSession();
  await eventually(() => expect(bench.receiver.attempts).toHaveLength(2));
  verifyAttempt(bench.receiver.attempts[1] as ReceivedAttempt, fresh);
  expect(() => verifyAttempt(bench.receiver.attempts[1] as ReceivedAttempt, old)).toThrow();
});

test('a Retry-After is obeyed', async () => {
  bench.receiver.behaviour = (_attempt, response) => {
    response.writeHead(429, { 'retry-after': '7200' }).end();
    return 'handled';
  };
  await bench.register();
  await bench.makeSession();
  const { wait, last_error } = await bench.firstAfter(1);
  expect(wait).toBeCloseTo(7200, 1);
  expect(last_error).toBe('http_429');
});

test('410 ends a hook at once, and webhooks that subscribed to errors are notified', async () => {
  bench.receiver.behaviour = ({ path }) => (path === '/gone' ? 410 : 200);
  const id = await bench.register({ path: '/gone', events: ['*'] });
  await bench.register({ path: '/errors', events: ['error.occurred'] });
  await bench.makeSession();
  await eventually(() => expect(bench.receiver.bodies('/errors')).toHaveLength(1));
  expect(bench.receiver.bodies('/errors')[0]?.data).toEqual({
    source: 'hook',
    reason: 'hook_gone',
    hook_id: id,
  });
  const { body } = await bench.gateway.b.get<{ hooks: { id: string; active: boolean }[] }>('/hooks');
  expect(body.hooks.find((hook) => hook.id === id)?.active).toBe(false);
  await bench.makeSession();
  await bench.makeSession();
  await eventually(async () => expect(await bench.deliveries()).toHaveLength(2));
  expect(bench.receiver.bodies('/gone')).toHaveLength(1);
});

test('metrics count attempts by outcome, and what waits', async () => {
  bench.receiver.behaviour = ({ json }) => (json.sequence === 1 ? 500 : 200);
  await bench.register();
  await bench.makeSession();
  await bench.makeSession();
  await bench.firstAfter(1);
  await eventually(async () => expect((await bench.deliveries())[1]?.status).toBe('delivered'));
  const { text } = await bench.gateway.operations.get<string>('/metrics');
  expect(text).toMatch(/agent_gateway_hook_attempts_total\{outcome="delivered"\} \d+/);
  expect(text).toMatch(/agent_gateway_hook_attempts_total\{outcome="retry"\} [1-9]/);
  expect(text).toMatch(/^agent_gateway_hook_outbox_deliveries 1$/m);
  expect(text).toMatch(/^agent_gateway_hook_oldest_undelivered_seconds (?:0\.\d+|[1-9])/m);
});

test('a deleted hook is not sent what was still waiting for it', async () => {
  let release: () => void = () => undefined;
  bench.receiver.behaviour = (_attempt, response) => {
    release = () => response.writeHead(200).end();
    return 'handled';
  };
  const id = await bench.register();
  for (let count = 0; count < 5; count += 1) await bench.makeSession();
  await eventually(() => expect(bench.receiver.attempts).toHaveLength(1));
  expect((await bench.gateway.a.delete(`/hooks/${id}`)).status).toBe(204);
  release();
  const second = await bench.register({ path: '/second' });
  bench.receiver.behaviour = () => 200;
  await bench.makeSession();
  await eventually(() => expect(bench.receiver.bodies('/second')).toHaveLength(1));
  expect(bench.receiver.bodies()).toHaveLength(1);
  expect(second).not.toBe(id);
});
