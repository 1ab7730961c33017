import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver, type WebhookBody } from '../harness/hook-receiver.js';
import type { HttpCaller } from '../harness/http-caller.js';

let gateway: TestGateway;
let receiver: HookReceiver;
beforeAll(async () => {
  receiver = await HookReceiver.open();
  gateway = await startTestGateway();
  gateway.tools.register({
    name: 'echo',
    description: 'Says it again',
    inputSchema: { type: 'object' },
    run: async (args) => JSON.stringify(args),
  });
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

async function register(path: string, events: string[], caller: HttpCaller = gateway.a): Promise<string> {
  const answer = await caller.post<{ id: string }>('/hooks', { url: receiver.url(path), events });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

async function makeSession(user = 'ada', caller: HttpCaller = gateway.a): Promise<string> {
  return (await caller.post<{ session_id: string }>('/sessions', { user_id: user })).body.session_id;
}

const say = (id: string, content: string) => gateway.a.post(`/sessions/${id}/messages`, { content });
const about = (path: string, id: string): WebhookBody[] =>
  receiver.bodies(path).filter(({ data }) => data.session_id === id);
const namesOf = (bodies: WebhookBody[]): string[] => bodies.map(({ event }) => event);

test('a session that is created, used and deleted reports every step, in order and without gaps', async () => {
  await register('/steps', ['*']);
  const id = await makeSession();
  await say(id, 'Hello');
  await say(id, '/call echo {"text":"a secret thing"}');
  await gateway.a.delete(`/sessions/${id}`);
  await eventually(() => expect(namesOf(about('/steps', id))).toContain('session.terminated'));
  const bodies = about('/steps', id);
  expect(namesOf(bodies)).toEqual([
    ...['session.created', 'message.received', 'message.sent', 'message.received'],
    ...['tool.executed', 'message.sent', 'session.terminated'],
  ]);
  expect(receiver.bodies('/steps').map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(receiver.attempts.map(({ body }) => body).join()).not.toContain('secret thing');
  const session = { session_id: id, channel: 'api', user_id: 'ada' };
  const turn = { ...session, turn_id: expect.stringMatching(/^turn_/) as unknown };
  const message = { ...turn, message_id: expect.stringMatching(/^msg_/) as unknown };
  expect(bodies.map(({ data }) => data)).toEqual([
    session,
    { ...message, attachments: 0 },
    {
      ...message,
      model: 'offline',
      tokens_used: expect.any(Number) as unknown,
      tool_calls: 0,
      finish_reason: 'stop',
    },
    { ...message, attachments: 0 },
    {
      ...turn,
      tool_call_id: expect.any(String) as unknown,
      name: 'echo',
      status: 'success',
      duration_ms: expect.any(Number) as unknown,
    },
    {
      ...message,
      model: 'offline',
      tokens_used: expect.any(Number) as unknown,
      tool_calls: 1,
      finish_reason: 'stop',
    },
    { ...session, reason: 'deleted' },
  ]);
  for (const attempt of receiver.attempts) {
    expect(attempt.json.id).toBe(attempt.headers['webhook-id']);
    expect(attempt.json.id).toMatch(/^evt_/);
    expect(attempt.json.timestamp).toMatch(/^\d{4}-.*\.\d{3}Z$/);
    expect(Object.keys(attempt.json)).toEqual(['id', 'event', 'timestamp', 'sequence', 'data']);
  }
});

test('the end of a session is one event under the subscribed name, sent once to a hook that subscribed to both', async () => {
  await register('/completed', ['session.completed']);
  await register('/terminated', ['session.terminated']);
  await register('/both', ['session.completed', 'session.terminated']);
  await register('/pattern', ['session.*']);
  const id = await makeSession();
  await gateway.b.delete(`/sessions/${id}`);
  await eventually(() => expect(about('/pattern', id)).toHaveLength(2));
  await eventually(() => expect(namesOf(about('/both', id))).toEqual(['session.terminated']));
  await eventually(() => expect(namesOf(about('/completed', id))).toEqual(['session.completed']));
  await eventually(() => expect(namesOf(about('/terminated', id))).toEqual(['session.terminated']));
  expect(namesOf(about('/pattern', id))).toEqual(['session.created', 'session.terminated']);
  const ids = ['/completed', '/terminated', '/both'].map((path) => about(path, id)[0]?.id);
  expect(new Set(ids).size).toBe(1);
});

describe('2.4 | url | String | target URL', () => {
  test('deliveries go to that URL, with its query', async () => {
    const id = await register('/target?of=mine', ['session.created']);
    const session = await makeSession();
    await eventually(() => expect(about('/target?of=mine', session)).toHaveLength(1));
    await gateway.a.delete(`/hooks/${id}`);
  });
});

describe('2.4 | events | array of String | subscribed event names (see Events)', () => {
  test('a hook gets only the events it subscribed to, and none after it was deleted', async () => {
    const hookId = await register('/created', ['session.created']);
    const id = await makeSession();
    await say(id, 'Hello');
    await eventually(() => expect(namesOf(about('/created', id))).toEqual(['session.created']));
    expect((await gateway.a.delete(`/hooks/${hookId}`)).status).toBe(204);
    const later = await makeSession();
    await eventually(() => expect(about('/steps', later)).toHaveLength(1));
    expect(namesOf(receiver.bodies('/created'))).toEqual(['session.created']);
  });
});

test('a token bound to a user has hooks of its own, which get events of that user alone', async () => {
  const bound = gateway.caller('b', await gateway.mint({ user: 'eve' }));
  const hookId = await register('/eve', ['*'], bound);
  const [hers, theirs] = [await makeSession('eve'), await makeSession('bob')];
  await eventually(() => expect(about('/eve', hers)).toHaveLength(1));
  await eventually(() => expect(about('/steps', theirs)).toHaveLength(1));
  expect(about('/eve', theirs)).toEqual([]);
  const list = await bound.get<{ hooks: { id: string }[] }>('/hooks');
  expect(list.body.hooks.map(({ id }) => id)).toEqual([hookId]);
  const others = await gateway.b.get<{ hooks: { id: string }[] }>('/hooks');
  const foreign = others.body.hooks.find(({ id }) => id !== hookId)?.id;
  expect((await bound.delete(`/hooks/${foreign}`)).status).toBe(404);
});

test('events of other areas are sent when their transaction commits, and not otherwise', async () => {
  await register('/config', ['config.updated']);
  const { database, store, signal } = await outbox();
  const event = {
    name: 'config.updated',
    userId: null,
    data: { keys: ['agent.max_turns'], reload_required: false },
  } as const;
  await expect(
    database.transaction(async (runner) => {
      expect(await store.emit(runner, event)).toBe(2);
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  expect(await database.transaction((runner) => store.emit(runner, event))).toBe(2);
  signal.committed();
  await eventually(() => expect(namesOf(receiver.bodies('/config'))).toEqual(['config.updated']));
  expect(receiver.bodies('/config')[0]?.data).toEqual(event.data);
});

async function outbox() {
  const { Database } = await import('../../src/platform/database/database.js');
  const { EventStore } = await import('../../src/platform/events/event.store.js');
  const { EventSignal } = await import('../../src/platform/events/event.store.js');
  const { app } = gateway.started;
  return { database: app.get(Database), store: app.get(EventStore), signal: app.get(EventSignal) };
}
