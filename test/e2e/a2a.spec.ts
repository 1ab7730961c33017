import { randomUUID } from 'node:crypto';
import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { TaskListStore } from '../../src/areas/a2a/task-list.store.js';
import type { Caller } from '../../src/platform/tokens/caller.js';
import { a2aClient, askA2a, a2aMessage as message, a2aRequest as request, textOf } from '../harness/a2a.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { configEnv, removeConfigs } from '../harness/identity.js';
import { answerWith, openAiWire } from '../harness/provider-wires.js';
import { rowsRead } from '../harness/rows-read.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let provider: ScriptedProvider;
let env: Record<string, string>;
let one: TestGateway;
let two: TestGateway;
beforeAll(async () => {
  [database, provider] = await Promise.all([createTestDatabase(), startScriptedProvider()]);
  const agents =
    '[agents.support]\ndescription = "Answers customers"\n[agents.board]\nusers = ["role:board"]\n';
  env = { ...(await configEnv(agents)), ...providerEnv(provider) };
  one = await startTestGateway({ database, env });
  two = await startTestGateway({ database, env });
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await Promise.all([provider.stop(), removeConfigs()]);
  await database.drop();
});

const clientAt = ({ b, token }: TestGateway, presented = token): Promise<Client> =>
  a2aClient(b.base, presented);

const get = (client: Client, id: string): Promise<Task> => client.getTask({ tenant: '', id });

test('`/.well-known/agent-card.json` is open, and its skills are the agents that are open to everybody', async () => {
  const answer = await fetch(new URL('/.well-known/agent-card.json', one.a.base));
  expect(answer.status).toBe(200);
  const card = (await answer.json()) as { skills: { id: string }[]; supportedInterfaces: { url: string }[] };
  expect(card.skills.map(({ id }) => id)).toEqual(['default', 'support']);
  expect(card.supportedInterfaces[0]?.url).toBe(new URL('/a2a', one.a.base).href);
});

test('message/send: a context is a session, a task a turn, and any replica answers', async () => {
  provider.script(answerWith(openAiWire, 'Hello there.'));
  const here = await clientAt(one);
  const first = await askA2a(here, 'Hello', { metadata: { agent: 'support' } });
  expect([first.status?.state, textOf(first)]).toEqual([TaskState.TASK_STATE_COMPLETED, 'Hello there.']);
  const there = await clientAt(two);
  expect(textOf(await get(there, first.id))).toBe('Hello there.');
  const second = await askA2a(there, 'And again', { contextId: first.contextId });
  expect([second.contextId, second.id]).toEqual([first.contextId, expect.not.stringMatching(first.id)]);
  expect(JSON.stringify(provider.requests.at(-1)?.body)).toMatch(/Hello.*And again/s);
  const session = await one.b.get<{ agent: string }>(`/sessions/${first.contextId}`);
  expect(session.body.agent).toBe('support');
  provider.script(answerWith(openAiWire, 'Default.'));
  const unnamed = await askA2a(here, 'Whoever you are');
  expect((await one.b.get<{ agent: string }>(`/sessions/${unnamed.contextId}`)).body.agent).toBe('default');
});

test('the same message begins one task', async () => {
  provider.script(answerWith(openAiWire, 'Once.'));
  const messageId = randomUUID();
  const [first, second] = [
    await askA2a(await clientAt(one), 'Once', { messageId }),
    await askA2a(await clientAt(two, one.token), 'Once', { messageId }),
  ];
  expect(second.id).toBe(first.id);
  expect(provider.requests).toHaveLength(1);
});

test('message/stream shows the task, its answer piece by piece, and how it ended', async () => {
  const held = heldAnswer();
  provider.script(held.script);
  const client = await clientAt(one);
  const seen: StreamResponse['payload'][] = [];
  const streaming = (async () => {
    for await (const { payload } of client.sendMessageStream(request('Slowly'))) seen.push(payload);
  })();
  await eventually(() => expect(provider.requests).toHaveLength(1));
  held.say('One ');
  await eventually(() => expect(seen.map((one) => one?.$case)).toEqual(['task', 'artifactUpdate']));
  held.say('two.');
  held.finish();
  await streaming;
  const pieces = seen.flatMap((one) => (one?.$case === 'artifactUpdate' ? [one.value] : []));
  expect(pieces.map(({ append }) => append)).toEqual([false, true]);
  const last = seen.at(-1);
  expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
});

test('a task that no one waits for continues, is followed on another replica, and cancelled on a third', async () => {
  const held = heldAnswer();
  provider.script(held.script);
  const client = await clientAt(one);
  const task = await askA2a(client, 'Take your time', {}, true);
  expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(task.status?.state);
  await eventually(() => expect(provider.requests).toHaveLength(1));
  const there = await clientAt(two);
  const seen: string[] = [];
  const following = (async () => {
    for await (const { payload } of there.resubscribeTask({ tenant: '', id: task.id }))
      seen.push(payload?.$case ?? '');
  })();
  held.say('Well, ');
  await eventually(() => expect(seen).toContain('artifactUpdate'));
  const cancelled = await there.cancelTask({ tenant: '', id: task.id, metadata: undefined });
  expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  await following;
  expect(seen.at(-1)).toBe('statusUpdate');
  expect((await get(client, task.id)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  await expect(client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).rejects.toThrow(/over/);
});

test('a task outlives the replica that took it', async () => {
  const third = await startTestGateway({
    ...{ database, env: { ...env, GATEWAY__GATEWAY__DRAIN_TIMEOUT_MS: '300' } },
  });
  const held = heldAnswer();
  provider.script(held.script, answerWith(openAiWire, 'Done elsewhere.'));
  const task = await askA2a(await clientAt(third), 'Hold on', {}, true);
  await eventually(() => expect(provider.requests).toHaveLength(1));
  await third.stop();
  const client = await clientAt(two);
  await eventually(async () => expect(textOf(await get(client, task.id))).toBe('Done elsewhere.'), 20_000);
});

test('a failed turn is a failed task that says why', async () => {
  provider.script((response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
  });
  const task = await askA2a(await clientAt(one), 'Fail');
  expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
  expect(JSON.stringify(task.status?.message)).toContain('provider');
});

test("other people's tasks and contexts are not found", async () => {
  provider.script(answerWith(openAiWire, 'Mine.'));
  const ada = await clientAt(one, await one.mint({ user: 'ada' }));
  const task = await askA2a(ada, 'Hello');
  const bob = await clientAt(two, await one.mint({ user: 'bob' }));
  await expect(get(bob, task.id)).rejects.toThrow(/no such session/i);
  const cancelling = bob.cancelTask({ tenant: '', id: task.id, metadata: undefined });
  await expect(cancelling).rejects.toThrow(/no such session/i);
  await expect(askA2a(bob, 'x', { contextId: task.contextId })).rejects.toThrow(/no such session/i);
  await expect(askA2a(bob, 'x', { taskId: task.id })).rejects.toThrow(/no such session/i);
  await expect(get(ada, 'turn_nothing')).rejects.toThrow(/no such session/i);
});

test('a message with files: their bytes and their names reach the model', async () => {
  provider.script(answerWith(openAiWire, 'Seen.'));
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const file = (value: string, filename: string, mediaType: string) => ({
    content: { $case: 'raw' as const, value: Buffer.from(value, 'base64') },
    ...{ metadata: undefined, filename, mediaType },
  });
  const parts = [
    ...message('Look').parts,
    file(png, '', 'image/png'),
    file(btoa('noon'), 'note.txt', 'text/plain'),
  ];
  const task = await askA2a(await clientAt(one), '', { parts });
  expect(textOf(task)).toBe('Seen.');
  const sent = JSON.stringify(provider.requests.at(-1)?.body);
  expect(sent).toContain(png);
  expect(sent).toContain('note.txt');
  const { body } = await one.b.get<{ messages: { attachments?: object[] }[] }>(
    `/sessions/${task.contextId}/messages`,
  );
  expect(body.messages[0]?.attachments).toMatchObject([
    { type: 'image' },
    { type: 'file', name: 'note.txt' },
  ]);
});

describe('ListTasks', () => {
  const listing = (client: Client, more: object = {}) =>
    client.listTasks({
      ...{ tenant: '', contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '' },
      ...{ statusTimestampAfter: undefined },
      ...more,
    });

  test('the tasks that its caller may see, the ones that changed last first, page by page', async () => {
    const eve = await clientAt(one, await one.mint({ user: 'eve' }));
    const begun: Task[] = [];
    for (const text of ['One', 'Two', 'Three']) {
      provider.script(answerWith(openAiWire, `Said ${text}.`));
      begun.push(await askA2a(eve, text, begun[0] && { contextId: begun[0].contextId }));
    }
    provider.script((response) => {
      response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
    });
    const failed = await askA2a(eve, 'Fail');
    const ids = [failed, ...begun.toReversed()].map(({ id }) => id);
    const there = await clientAt(two, await one.mint({ user: 'eve' }));
    const all = await listing(there);
    expect([all.tasks.map(({ id }) => id), all.totalSize, all.nextPageToken]).toEqual([ids, 4, '']);
    expect(all.tasks.every(({ artifacts }) => artifacts.length === 0)).toBe(true);
    const whole = await listing(there, { includeArtifacts: true, contextId: begun[0]!.contextId });
    expect(whole.tasks.map(textOf)).toEqual(['Said Three.', 'Said Two.', 'Said One.']);
    const first = await listing(there, { pageSize: 3 });
    const second = await listing(there, { pageSize: 3, pageToken: first.nextPageToken });
    expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(ids);
    expect([second.nextPageToken, second.totalSize]).toEqual(['', 4]);
    const failures = await listing(there, { status: TaskState.TASK_STATE_FAILED });
    expect(failures.tasks.map(({ id, status }) => [id, status?.state])).toEqual([
      [failed.id, TaskState.TASK_STATE_FAILED],
    ]);
    const since = await listing(there, { statusTimestampAfter: failed.status?.timestamp });
    expect(since.tasks.map(({ id }) => id)).toEqual([failed.id]);
    for (const none of [{ status: TaskState.TASK_STATE_REJECTED }, { contextId: 'sess_x' }])
      expect([none, (await listing(there, none)).totalSize]).toEqual([none, 0]);
    const frank = await clientAt(one, await one.mint({ user: 'frank' }));
    expect((await listing(frank)).tasks).toEqual([]);
    await expect(listing(frank, { pageToken: first.nextPageToken })).rejects.toThrow(/pageToken/);
  });

  test('a page after the first reads about as many turns as it has, however many there are', async () => {
    const { session_id: session } = (await one.a.post<{ session_id: string }>('/sessions', {})).body;
    await database.query(
      `INSERT INTO turns (id, session_id, user_message_id, status, created_at, started_at, ended_at)
       SELECT 'turn_many_' || n, '${session}', 'msg_many_' || n, 'completed', at, at, at
       FROM generate_series(1, 20000) AS n, LATERAL (SELECT now() - make_interval(secs => n / 3) AS at) AS moment`,
    );
    await database.query('ANALYZE turns');
    const everything = { contextId: undefined, agent: undefined, statuses: undefined, since: undefined };
    const caller = { boundUserId: null, agents: undefined } as unknown as Caller;
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (let n = 0; n < 5; n += 1) {
      const read = await rowsRead(database, 'turns', async (counting) => {
        const store = new TaskListStore(counting);
        const page = await store.page(
          everything,
          { limit: 50, ...(cursor !== undefined && { cursor }) },
          caller,
        );
        for (const { id } of page.items) seen.add(id);
        expect(page.total).toBeGreaterThanOrEqual(20_000);
        cursor = page.nextCursor ?? undefined;
      });
      if (n > 0) expect(read).toBeLessThanOrEqual(2 * 51);
    }
    expect(seen.size).toBe(5 * 50);
  });
});

describe('the endpoint', () => {
  const send = (
    body: unknown,
    token: string | undefined = one.token,
    headers: Record<string, string> = {},
    at = one,
  ) =>
    fetch(new URL('/a2a', at.a.base), {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', 'a2a-version': '1.0' },
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const call = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
  const said = (parts: unknown[], more = {}) =>
    call('SendMessage', { message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...more } });
  const openSessions = async (token: string): Promise<number> =>
    (await one.caller('b', token).get<{ total: number }>('/sessions?status=active')).body.total;
  const errorOf = async (answer: Response): Promise<unknown> =>
    ((await answer.json()) as { error?: { code: number } }).error?.code;

  test('needs a token, sessions:write, to read sessions:read too, and an agent that the token may use', async () => {
    expect((await send(call('GetTask', { id: 'x' }), '')).status).toBe(401);
    const reader = await one.mint({ scopes: ['sessions:read'] });
    expect((await send(call('GetTask', { id: 'x' }), reader)).status).toBe(403);
    const writer = await one.mint({ scopes: ['sessions:write'] });
    const both = await one.mint({ scopes: ['sessions:read', 'sessions:write'] });
    for (const method of ['GetTask', 'ListTasks', 'SubscribeToTask', 'CreateTaskPushNotificationConfig'])
      expect([
        (await send(call(method, { id: 'x' }), writer)).status,
        (await send(call(method, { id: 'x' }), both)).status,
      ]).toEqual([403, 200]);
    const narrow = await one.mint({ agents: ['support'] });
    const other = said([{ text: 'x' }], { metadata: { agent: 'default' } });
    expect((await send(other, narrow)).status).toBe(403);
    expect(
      (await send(call('GetTask', { id: 'x' }), one.token, { origin: 'https://evil.example' })).status,
    ).toBe(403);
  });

  test.each([
    ['no message', call('SendMessage', {})],
    ['no part', said([])],
    ['a blank text', said([{ text: ' ' }])],
    ['a file at no URL', said([{ url: 'ftp://example.com/a.png' }])],
    ['a file without bytes', said([{ raw: '' }])],
    ['a file of no media type', said([{ raw: 'eA==', mediaType: 'x' }])],
    ['a file with a long name', said([{ raw: 'eA==', filename: 'x'.repeat(129) }])],
    ['a page of no tasks', call('ListTasks', { pageSize: 0 })],
    ['a page of too many tasks', call('ListTasks', { pageSize: 101 })],
    ['a page of another list', call('ListTasks', { pageToken: 'x' })],
    ['no id of the message', said([{ text: 'x' }], { messageId: '' })],
    ['an agent that is none', said([{ text: 'x' }], { metadata: { agent: 'nobody' } })],
    ['an agent that is no text', said([{ text: 'x' }], { metadata: { agent: 7 } })],
    ['a text of more than 256 KiB', said([{ text: 'x'.repeat(262_145) }])],
    ['a message for a task that there is not', said([{ text: 'x' }], { taskId: 'turn_x' })],
    ['an unknown method', call('Dance', {})],
    ['another protocol', { jsonrpc: '1.0', id: 1, method: 'GetTask', params: { id: 'x' } }],
    ['params of the wrong kind', call('GetTask', [1])],
  ])('%s is an error of JSON-RPC', async (_what, body) => {
    const answer = await send(body);
    expect([answer.status, typeof (await errorOf(answer))]).toEqual([200, 'number']);
  });

  type Named = [string, unknown, string];
  test.each<Named>([
    ['a page of another list', call('ListTasks', { pageToken: 'x' }), 'pageToken: is not the nextPageToken'],
    [
      'a file that may not be fetched',
      said([{ text: 'Look' }, { url: 'http://169.254.0.1/x.png', mediaType: 'image/png' }]),
      'parts[1].url: ',
    ],
    ['a time that is none', call('ListTasks', { statusTimestampAfter: 'soon' }), 'statusTimestampAfter'],
    ...['-200000-01-01T00:00:00Z', '+010000-01-01T00:00:00Z', '+275760-09-13T00:00:00Z'].map(
      (after): Named => [after, call('ListTasks', { statusTimestampAfter: after }), 'statusTimestampAfter'],
    ),
    [
      'an id that comes back with every event, and is long',
      { ...call('ListTasks', {}), id: 'x'.repeat(257) },
      '"id" may have at most 256 characters',
    ],
    ['eleven files', said(Array.from({ length: 11 }, () => ({ raw: 'eA==' }))), 'at most 10 files'],
  ])('%s is a malformed request, and its error says what to mend', async (_what, body, named) => {
    const answer = (await (await send(body)).json()) as { error?: { code: number; message: string } };
    expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining(named) as string });
  });

  test('ten files, and the year 0, are taken', async () => {
    provider.script(answerWith(openAiWire, 'Ten.'));
    expect(
      await errorOf(await send(said(Array.from({ length: 10 }, () => ({ raw: 'eA==' }))))),
    ).toBeUndefined();
    for (const statusTimestampAfter of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])
      expect(await errorOf(await send(call('ListTasks', { statusTimestampAfter })))).toBeUndefined();
  });

  test('a message that is refused leaves no open session, and each of its repetitions says why', async () => {
    const token = await one.mint({ user: 'gus' });
    const body = said([{ url: 'https://files.example/a.png', mediaType: 'image/png' }]);
    for (const _ of [1, 2]) expect(await errorOf(await send(body, token))).toBe(-32602);
    expect(await openSessions(token)).toBe(0);
  });

  test('the same message, sent to both replicas at once, begins one task in one session', async () => {
    const token = await one.mint({ user: 'hal' });
    for (const round of [1, 2, 3, 4, 5]) {
      provider.script(answerWith(openAiWire, 'Once.'));
      const body = said([{ text: 'Once' }]);
      const answers = await Promise.all([one, two].map((at) => send(body, token, {}, at)));
      const heard = (await Promise.all(answers.map((answer) => answer.json()))) as {
        result?: { task: { id: string } };
        error?: unknown;
      }[];
      expect(heard.map(({ error }) => error)).toEqual([undefined, undefined]);
      expect(new Set(heard.map(({ result }) => result?.task.id)).size).toBe(1);
      expect(await openSessions(token)).toBe(round);
    }
  });

  test('an unexpected error is logged, and not shown to the caller', async () => {
    const found = jest.spyOn(TaskListStore.prototype, 'page').mockRejectedValueOnce(new Error('relation x'));
    const answer = await (await send(call('ListTasks', {}))).text();
    found.mockRestore();
    expect(answer).toMatch(/"code":-32603.*Something unexpected went wrong/);
    expect(answer).not.toContain('relation x');
    expect(one.logLines.filter((line) => line.includes('relation x'))).toHaveLength(1);
  });

  test('a tenant lists the tasks of its agent', async () => {
    const listed = async (tenant: string) => {
      const answer = await send(call('ListTasks', { tenant, pageSize: 100 }));
      const { result } = (await answer.json()) as { result: { tasks: { contextId: string }[] } };
      return result.tasks.map(({ contextId }) => contextId);
    };
    const sessions = await database.query<{ id: string; agent: string }>('SELECT id, agent FROM sessions');
    const ofSupport = new Set(sessions.flatMap(({ id, agent }) => (agent === 'support' ? [id] : [])));
    const [all, support] = [await listed(''), await listed('support')];
    expect(support.length).toBeGreaterThan(0);
    expect(support).toEqual(all.filter((id) => ofSupport.has(id)));
    expect(all.length).toBeGreaterThan(support.length);
  });

  test('bodies that are no JSON object, too large or of another media type are refused at once', async () => {
    expect((await send('[]')).status).toBe(400);
    expect((await send('{')).status).toBe(400);
    expect((await send(`{"a":"${'x'.repeat(30_000_000)}"}`)).status).toBe(413);
    expect((await send('{}', one.token, { 'content-type': 'text/plain' })).status).toBe(415);
    expect(await errorOf(await send(call('GetTask', { id: 'x' }), one.token, { 'a2a-version': '9.9' }))).toBe(
      -32009,
    );
  });
});
