import { HookStore } from '../../src/areas/hooks/hook.store.js';
import { newWebhookSecret } from '../../src/common/text/webhook-secret.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  deliveriesIn,
  firstAfter,
  forgetHooks,
  type HookWish,
  makeSession,
  registerHook,
} from '../harness/hook-deliveries.js';
import { HookReceiver, type ReceivedAttempt } from '../harness/hook-receiver.js';
import { verifyAttempt } from '../harness/webhook-judges.js';

let database: TestDatabase;
let gateway: TestGateway;
let receiver: HookReceiver;
beforeAll(async () => {
  database = await createTestDatabase();
  gateway = await startTestGateway({ database });
});
beforeEach(async () => {
  receiver = await HookReceiver.open();
});
afterEach(async () => {
  await forgetHooks(gateway, database);
  await receiver.close();
});
afterAll(async () => {
  await gateway.stop();
  await database.drop();
});

const register = (wish?: HookWish) => registerHook(gateway, receiver, wish);
const deliveries = () => deliveriesIn(database);

describe('2.4 | secret | String | supplied on registration; not returned in the Profile B responses', () => {
  test.each([
    ['a whsec_ secret', `whsec_${Buffer.from('twenty-four bytes of key').toString('base64')}`],
    ['any other secret, as raw bytes', 'ein Schlüssel, der keiner ist'],
  ])(
    'deliveries are signed with %s, and two libraries that are not ours verify them',
    async (_what, secret) => {
      await register({ secret });
      await makeSession(gateway);
      await eventually(() => expect(receiver.attempts).toHaveLength(1));
      const [attempt] = receiver.attempts as [ReceivedAttempt];
      verifyAttempt(attempt, secret);
      expect(() => verifyAttempt({ ...attempt, body: `${attempt.body} ` }, secret)).toThrow();
      expect(() => verifyAttempt(attempt, newWebhookSecret())).toThrow();
    },
  );
});

test('without a secret nothing is signed', async () => {
  await register();
  await makeSession(gateway);
  await eventually(() => expect(receiver.attempts).toHaveLength(1));
  expect(receiver.attempts[0]?.headers).not.toHaveProperty('webhook-signature');
});

test('after a rotation both secrets verify, and only the new one once the old one has expired', async () => {
  const [old, fresh] = [newWebhookSecret(), newWebhookSecret()];
  const id = await register({ secret: old });
  const store = gateway.started.app.get(HookStore, { strict: false });
  expect(await store.rotate(id, fresh, 3600)).toBe(true);
  await makeSession(gateway);
  await eventually(() => expect(receiver.attempts).toHaveLength(1));
  for (const secret of [old, fresh]) verifyAttempt(receiver.attempts[0] as ReceivedAttempt, secret);
  await database.query(`UPDATE hooks SET old_secret_until = now() - interval '1 second'`);
  await makeSession(gateway);
  await eventually(() => expect(receiver.attempts).toHaveLength(2));
  verifyAttempt(receiver.attempts[1] as ReceivedAttempt, fresh);
  expect(() => verifyAttempt(receiver.attempts[1] as ReceivedAttempt, old)).toThrow();
});

test('a Retry-After is obeyed', async () => {
  receiver.behaviour = (_attempt, response) => {
    response.writeHead(429, { 'retry-after': '7200' }).end();
    return 'handled';
  };
  await register();
  await makeSession(gateway);
  const { wait, last_error } = await firstAfter(database, 1);
  expect(wait).toBeCloseTo(7200, 1);
  expect(last_error).toBe('http_429');
});

test('410 ends a hook at once, and webhooks that subscribed to errors are notified', async () => {
  receiver.behaviour = ({ path }) => (path === '/gone' ? 410 : 200);
  const id = await register({ path: '/gone', events: ['*'] });
  await register({ path: '/errors', events: ['error.occurred'] });
  await makeSession(gateway);
  await eventually(() => expect(receiver.bodies('/errors')).toHaveLength(1));
  expect(receiver.bodies('/errors')[0]?.data).toEqual({ source: 'hook', reason: 'hook_gone', hook_id: id });
  const { body } = await gateway.b.get<{ hooks: { id: string; active: boolean }[] }>('/hooks');
  expect(body.hooks.find((hook) => hook.id === id)?.active).toBe(false);
  await makeSession(gateway);
  await makeSession(gateway);
  await eventually(async () => expect(await deliveries()).toHaveLength(2));
  expect(receiver.bodies('/gone')).toHaveLength(1);
});

test('metrics count attempts by outcome, and what waits', async () => {
  receiver.behaviour = ({ json }) => (json.sequence === 1 ? 500 : 200);
  await register();
  await makeSession(gateway);
  await makeSession(gateway);
  await firstAfter(database, 1);
  await eventually(async () => expect((await deliveries())[1]?.status).toBe('delivered'));
  const { text } = await gateway.operations.get<string>('/metrics');
  expect(text).toMatch(/agent_gateway_hook_attempts_total\{outcome="delivered"\} \d+/);
  expect(text).toMatch(/agent_gateway_hook_attempts_total\{outcome="retry"\} [1-9]/);
  expect(text).toMatch(/^agent_gateway_hook_outbox_deliveries 1$/m);
  expect(text).toMatch(/^agent_gateway_hook_oldest_undelivered_seconds (?:0\.\d+|[1-9])/m);
});

test('a deleted hook is not sent what was still waiting for it', async () => {
  let release: () => void = () => undefined;
  receiver.behaviour = (_attempt, response) => {
    release = () => response.writeHead(200).end();
    return 'handled';
  };
  const id = await register();
  for (let count = 0; count < 5; count += 1) await makeSession(gateway);
  await eventually(() => expect(receiver.attempts).toHaveLength(1));
  expect((await gateway.a.delete(`/hooks/${id}`)).status).toBe(204);
  release();
  const second = await register({ path: '/second' });
  receiver.behaviour = () => 200;
  await makeSession(gateway);
  await eventually(() => expect(receiver.bodies('/second')).toHaveLength(1));
  expect(receiver.bodies()).toHaveLength(1);
  expect(second).not.toBe(id);
});
