import { randomUUID } from 'node:crypto';
import { StreamResponse, type TaskPushNotificationConfig, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { a2aClient, a2aRequest, askA2a, textOf } from '../harness/a2a.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver, type ReceivedAttempt } from '../harness/hook-receiver.js';
import { configEnv, removeConfigs } from '../harness/identity.js';
import { answerWith, openAiWire } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let provider: ScriptedProvider;
let receiver: HookReceiver;
let one: TestGateway;
let two: TestGateway;
beforeAll(async () => {
  [database, provider, receiver] = await Promise.all([
    createTestDatabase(),
    startScriptedProvider(),
    HookReceiver.open(),
  ]);
  const env = {
    ...(await configEnv('[limits.api_tokens.small]\ntask_hooks = 1\n')),
    ...providerEnv(provider),
  };
  one = await startTestGateway({ database, env });
  two = await startTestGateway({ database, env });
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await Promise.all([provider.stop(), receiver.close(), removeConfigs()]);
  await database.drop();
});
/** Each test has its own: notifications of other tests may still be on their way. */
let path: string;
beforeEach(() => {
  receiver.behaviour = () => 200;
  path = `/${randomUUID()}`;
});
const told = (at = path): ReceivedAttempt[] => receiver.attempts.filter((attempt) => attempt.path === at);

const clientAt = ({ b, token }: TestGateway, presented = token): Promise<Client> =>
  a2aClient(b.base, presented);

function config(more: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig {
  return {
    ...{ tenant: '', id: '', taskId: '', url: receiver.url(path), token: '', authentication: undefined },
    ...more,
  };
}

/** The notification as a receiver of the protocol parses it. */
const read = ({ body }: ReceivedAttempt) => StreamResponse.fromJSON(JSON.parse(body)).payload;
const stateOf = (attempt: ReceivedAttempt): TaskState | undefined => {
  const said = read(attempt);
  if (said?.$case === 'task' || said?.$case === 'statusUpdate') return said.value.status?.state;
  return undefined;
};
const states = (at = path): unknown[] => told(at).map(stateOf);
const {
  TASK_STATE_WORKING: WORKING,
  TASK_STATE_COMPLETED: COMPLETED,
  TASK_STATE_CANCELED: CANCELED,
} = TaskState;

/** A task that runs until it is told to finish. */
async function running(client: Client, push?: TaskPushNotificationConfig) {
  const held = heldAnswer();
  provider.script(held.script);
  const task = (await client.sendMessage(a2aRequest('Take your time', {}, true, push))) as Awaited<
    ReturnType<typeof askA2a>
  >;
  await eventually(() => expect(provider.requests).toHaveLength(1));
  const finish = (): void => {
    held.say('Done.');
    held.finish();
  };
  return { task, finish };
}

const stored = async (): Promise<number> => {
  const text = 'SELECT count(*)::int AS n FROM hooks WHERE message_id IS NOT NULL';
  return (await database.query<{ n: number }>(text))[0]!.n;
};

test('a message with a push configuration: every state is delivered, in order, the last one with the answer', async () => {
  const client = await clientAt(one);
  expect((await client.getAgentCard()).capabilities?.pushNotifications).toBe(true);
  const authentication = { scheme: 'Bearer', credentials: 'push-credentials' };
  const { task, finish } = await running(client, config({ token: 'push-token', authentication }));
  await eventually(() => expect(states()).toEqual([WORKING]));
  finish();
  await eventually(() => expect(states()).toEqual([WORKING, COMPLETED]));
  const said = read(told()[1]!);
  const whole = await client.getTask({ tenant: '', id: task.id });
  expect(said).toEqual({ $case: 'task', value: { ...whole, status: expect.anything() as unknown } });
  expect(textOf(whole)).toBe('Done.');
  for (const { headers } of told())
    expect(headers).toMatchObject({
      ...{ 'x-a2a-notification-token': 'push-token', authorization: 'Bearer push-credentials' },
      ...{ 'content-type': 'application/a2a+json', 'webhook-id': expect.stringMatching(/^evt_/) as unknown },
    });
});

test('message/stream takes a push configuration, too', async () => {
  provider.script(answerWith(openAiWire, 'Streamed.'));
  const client = await clientAt(two);
  for await (const _ of client.sendMessageStream(a2aRequest('Slowly', {}, false, config())));
  await eventually(() => expect(states().at(-1)).toBe(COMPLETED));
});

test('configurations are set, read, listed and deleted at any replica, and their secrets are never shown', async () => {
  const [here, there] = [await clientAt(one), await clientAt(two)];
  const { task, finish } = await running(here);
  const authentication = { scheme: 'Basic', credentials: 'c2VjcmV0' };
  const given = config({ taskId: task.id, id: 'mine', token: 'hidden', authentication });
  const shown = config({ taskId: task.id, id: 'mine' });
  expect(await here.createTaskPushNotificationConfig(given)).toEqual(shown);
  const named = { tenant: '', taskId: task.id, id: 'mine' };
  expect(await there.getTaskPushNotificationConfig(named)).toEqual(shown);
  const other = await there.createTaskPushNotificationConfig(
    config({ taskId: task.id, url: receiver.url('/x') }),
  );
  const listed = () =>
    here.listTaskPushNotificationConfig({ tenant: '', taskId: task.id, pageSize: 0, pageToken: '' });
  expect((await listed()).configs).toEqual([shown, other]);
  const moved = { ...shown, url: receiver.url(`${path}/moved`) };
  expect(await there.createTaskPushNotificationConfig(moved)).toEqual(moved);
  await there.deleteTaskPushNotificationConfig({ tenant: '', taskId: task.id, id: other.id });
  expect((await listed()).configs).toEqual([moved]);
  await expect(
    here.getTaskPushNotificationConfig({ tenant: '', taskId: task.id, id: other.id }),
  ).rejects.toThrow(/no push notification/);
  finish();
  await eventually(() => expect(states(`${path}/moved`)).toEqual([COMPLETED]));
  expect(told(`${path}/moved`)[0]!.headers).not.toHaveProperty('authorization');
  expect(states()).toEqual([]);
  const rows = JSON.stringify(await database.query('SELECT * FROM hooks'));
  expect(rows).not.toMatch(/hidden|c2VjcmV0/);
});

test('a configuration that is set when the task is over is notified at once', async () => {
  provider.script(answerWith(openAiWire, 'Quick.'));
  const client = await clientAt(one);
  const task = await askA2a(client, 'Quick');
  await client.createTaskPushNotificationConfig(config({ taskId: task.id }));
  await eventually(() => expect(states()).toEqual([COMPLETED]));
});

test('a task that is cancelled, even while it waits, is reported as cancelled, and can still be found', async () => {
  const client = await clientAt(one);
  const { task, finish } = await running(client, config());
  const waiting = (await client.sendMessage(
    a2aRequest('Next', { contextId: task.contextId }, true, config({ url: receiver.url(`${path}/next`) })),
  )) as typeof task;
  await client.cancelTask({ tenant: '', id: waiting.id, metadata: undefined });
  await eventually(() => expect(states(`${path}/next`)).toEqual([TaskState.TASK_STATE_SUBMITTED, CANCELED]));
  expect((await client.getTask({ tenant: '', id: waiting.id })).status?.state).toBe(CANCELED);
  expect((await client.getTask({ tenant: '', id: task.id })).status?.state).toBe(WORKING);
  finish();
});

test('a receiver that answers 410 gets no more of the task', async () => {
  receiver.behaviour = (attempt) => (attempt.path === path ? 410 : 200);
  const client = await clientAt(one);
  const { task, finish } = await running(client, config());
  await eventually(() => expect(told()).toHaveLength(1));
  await eventually(async () => {
    const [hook] = await database.query<{ active: boolean }>(
      `SELECT h.active FROM hooks AS h JOIN turns AS t ON t.user_message_id = h.message_id WHERE t.id = '${task.id}'`,
    );
    expect(hook?.active).toBe(false);
  });
  finish();
  await eventually(async () =>
    expect((await client.getTask({ tenant: '', id: task.id })).status?.state).toBe(COMPLETED),
  );
  expect(told()).toHaveLength(1);
});

describe('who may', () => {
  test('tasks of others are not found, and nothing changes', async () => {
    const ada = await clientAt(one, await one.mint({ user: 'ada' }));
    const { task, finish } = await running(ada, config({ id: 'mine' }));
    const bob = await clientAt(two, await one.mint({ user: 'bob' }));
    const before = await stored();
    const named = { tenant: '', taskId: task.id, id: 'mine' };
    for (const attempt of [
      bob.createTaskPushNotificationConfig(config({ taskId: task.id, url: receiver.url('/bob') })),
      bob.getTaskPushNotificationConfig(named),
      bob.listTaskPushNotificationConfig({ tenant: '', taskId: task.id, pageSize: 0, pageToken: '' }),
      bob.deleteTaskPushNotificationConfig(named),
      bob.sendMessage(a2aRequest('x', { contextId: task.contextId }, true, config())),
      bob.createTaskPushNotificationConfig(config({ taskId: 'turn_nothing' })),
    ])
      await expect(attempt).rejects.toThrow(/no such session/i);
    expect(await stored()).toBe(before);
    finish();
  });

  test.each<[string, Partial<TaskPushNotificationConfig>]>([
    ['an address that is not public', { url: 'http://10.0.0.1/hook' }],
    ['the metadata of a cloud', { url: 'http://169.254.169.254/latest' }],
    ['a URL with credentials', { url: 'https://me:secret@example.com/' }],
    ['no URL of the web', { url: 'file:///etc/passwd' }],
    ['no URL', { url: '' }],
    ['a long URL', { url: `https://example.com/${'x'.repeat(2048)}` }],
    ['a long id', { id: 'x'.repeat(129) }],
    ['an id with a line in it', { id: 'a\nb' }],
    ['a token with a line in it', { token: 'a\r\nx-evil: 1' }],
    ['a long token', { token: 'x'.repeat(1025) }],
    ['a scheme that is none', { authentication: { scheme: 'Bearer x', credentials: 'y' } }],
    ['a scheme without credentials', { authentication: { scheme: 'Bearer', credentials: '' } }],
    ['credentials with a line', { authentication: { scheme: 'Bearer', credentials: 'a\nb' } }],
    ['long credentials', { authentication: { scheme: 'Bearer', credentials: 'x'.repeat(4097) } }],
  ])('%s is refused, and nothing changes', async (_what, more) => {
    const token = await one.mint({ user: `user-${randomUUID()}` });
    const client = await clientAt(one, token);
    const before = [0, await stored(), provider.requests.length];
    const refused = { name: 'RequestMalformedError' };
    await expect(askA2a(client, 'Hello', {}, true, config(more))).rejects.toMatchObject(refused);
    const { body } = await one.caller('b', token).get<{ total: number }>('/sessions');
    expect([body.total, await stored(), provider.requests.length]).toEqual(before);
  });

  test.each<[string, object]>([
    ['an object for a URL', { url: { a: 1 } }],
    ['a list for an id', { id: [['x']], url: 'http://10.0.0.1/' }],
    ['a prototype for a task', { taskId: '__proto__', url: 'https://example.com/' }],
    ['nothing', {}],
    ['authentication that is text', { authentication: 'Bearer x', url: 'https://example.com/' }],
  ])('%s is an error of JSON-RPC', async (_what, params) => {
    for (const method of ['Create', 'Get', 'List', 'Delete']) {
      const plural = method === 'List' ? 's' : '';
      const answer = await fetch(new URL('/a2a', one.a.base), {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', 'a2a-version': '1.0' },
          authorization: `Bearer ${one.token}`,
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, params },
          method: `${method}TaskPushNotificationConfig${plural}`,
        }),
      });
      const { error } = (await answer.json()) as { error?: { code: number } };
      // No refusal is an internal error.
      expect([method, answer.status, error?.code]).toEqual([method, 200, expect.any(Number)]);
      expect(error?.code).not.toBe(-32_603);
    }
  });

  test('a task has at most ten, and a token at most its limit', async () => {
    const client = await clientAt(one);
    const { task, finish } = await running(client);
    const put = (id: string) => client.createTaskPushNotificationConfig(config({ taskId: task.id, id }));
    for (let n = 0; n < 10; n += 1) await put(`n${n}`);
    await expect(put('n10')).rejects.toThrow(/10 push notifications/);
    await put('n9');
    finish();
    await eventually(() => expect(told()).toHaveLength(10));
    const small = await clientAt(one, await one.mint({ name: 'small' }));
    const first = await running(small, config());
    const second = small.sendMessage(a2aRequest('x', {}, true, config()));
    await expect(second).rejects.toThrow(/limits.task_hooks_per_api_token/);
    first.finish();
    // A finished task that was notified makes room.
    await eventually(() => expect(states().at(-1)).toBe(COMPLETED));
    provider.script(answerWith(openAiWire, 'Room.'));
    await eventually(async () => expect(textOf(await askA2a(small, 'x', {}, false, config()))).toBe('Room.'));
  });

  test('they end with the token that made them', async () => {
    const client = await clientAt(one, await one.mint({ name: 'short-lived' }));
    const { finish } = await running(client, config());
    await eventually(() => expect(states()).toEqual([WORKING]));
    const made = await one.admin.get<{ items: { id: string; name: string }[] }>('/tokens?limit=100');
    const { id } = made.body.items.find(({ name }) => name === 'short-lived')!;
    expect((await one.admin.delete(`/tokens/${id}`)).status).toBe(204);
    finish();
    await eventually(async () => {
      const text = `SELECT inactive_reason FROM hooks WHERE message_id IS NOT NULL ORDER BY id DESC LIMIT 1`;
      expect(await database.query(text)).toEqual([{ inactive_reason: 'token_revoked' }]);
    });
    expect(states()).toEqual([WORKING]);
  });

  test('webhooks and their lists know nothing of them', async () => {
    const client = await clientAt(one);
    const { finish } = await running(client, config({ token: 'unheard-of' }));
    const hooks = await one.b.get<{ hooks: unknown[] }>('/hooks');
    expect(JSON.stringify(hooks.body)).not.toContain(receiver.url(path));
    finish();
    await eventually(() => expect(states().at(-1)).toBe(COMPLETED));
    for (const table of [
      'log_entries',
      'audit_entries',
      'events',
      'hook_deliveries',
      'hooks',
      'turns',
      'messages',
    ]) {
      const rows = await database.query(
        `SELECT 1 FROM ${table} AS t WHERE t::text ~ 'unheard-of|push-token'`,
      );
      expect([table, rows]).toEqual([table, []]);
    }
    expect([...one.logLines, ...two.logLines].join('')).not.toMatch(/unheard-of|push-token|push-credentials/);
  });
});
