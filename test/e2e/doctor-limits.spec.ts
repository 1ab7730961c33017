import { diagnosis, type Finding, onItsMachine, overHttp } from '../harness/doctor.js';
import { EventStream } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { runCommand } from '../harness/remote-command-line.js';
import { SocketClient } from '../harness/socket-client.js';
import { newSession } from '../harness/turn-stream.js';

const WIDEST = 100;
const NOTHING = {
  name: 'limits',
  status: 'ok',
  detail: 'no budget and no limit is used up, or nearly so',
  advice: null,
};

let gateway: TestGateway;
let session: string;
let own: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  session = await newSession(gateway);
  [{ id: own }] = (await gateway.database.query<{ id: string }>('SELECT id FROM api_tokens')) as [
    { id: string },
  ];
});
afterAll(() => gateway.stop());

const rows = (sql: string, values?: unknown[]) => gateway.database.query(sql, values);
const set = async (limits: Readonly<Record<string, unknown>>) =>
  expect((await gateway.b.patch('/config', limits)).status).toBe(200);

/**
 * What `doctor` says about limits: over HTTP, and from the database alone. It succeeds, because refusing is what
 * limits are for.
 */
async function found(where: 'everywhere' | 'over HTTP'): Promise<Finding | undefined> {
  const remote = await diagnosis(overHttp(gateway));
  expect(remote.code).toBe(0);
  const finding = remote.part('limits');
  if (where === 'everywhere') {
    const local = await diagnosis(onItsMachine(gateway));
    expect([local.code, local.part('limits')]).toEqual([0, finding]);
  }
  return finding;
}
const expectFound = (finding: object, where: Parameters<typeof found>[0] = 'everywhere') =>
  // Repeats, because what many callers see may be two seconds old.
  eventually(async () => expect(await found(where)).toEqual({ name: 'limits', ...finding }), 15_000);

/** Inserts turns of the token in this state. */
const turns = (count: number, status: 'running' | 'waiting') =>
  rows(
    `INSERT INTO turns (id, session_id, user_message_id, status, token_id, wait_until, started_at)
     SELECT 'turn_' || $3 || n, $1, 'msg_' || $3 || n, $3, $2,
       CASE WHEN $3 = 'waiting' THEN now() + interval '1 hour' END, CASE WHEN $3 = 'running' THEN now() END
     FROM generate_series(1, $4::int) AS n`,
    [session, own, status, count],
  );

test('nothing is near its limit', () => expectFound(NOTHING));

describe('webhooks', () => {
  afterAll(async () => {
    await rows('DELETE FROM hooks');
    await set({ 'limits.hooks_per_api_token': null });
  });
  const hook = () =>
    gateway.b.post<{ error: { details: { reason: string } } }>('/hooks', {
      ...{ url: 'http://127.0.0.1:18080/', events: ['session.*'] },
    });

  test('four of five: nearly; the fifth uses them up; which token, and what to do', async () => {
    await set({ 'limits.hooks_per_api_token': 5 });
    await rows(
      `INSERT INTO hooks (id, url, events, token_family) SELECT 'hook_' || n, 'https://hooks.example.com/', '{session.created}', $1
       FROM generate_series(1, 4) AS n`,
      [own],
    );
    const advice =
      'Delete webhooks that nobody needs ("agent-gateway hooks list"), or raise limits.hooks_per_api_token.';
    await expectFound({ status: 'warning', detail: 'nearly used up: test (4 of 5 webhooks)', advice });
    await rows(
      `INSERT INTO hooks (id, url, events, token_family) VALUES ('hook_5', 'https://hooks.example.com/', '{session.created}', $1)`,
      [own],
    );
    await expectFound({ status: 'warning', detail: 'used up: test (5 of 5 webhooks)', advice });
    expect((await hook()).body).toMatchObject({ error: { details: { reason: 'api_token_hooks' } } });
  });

  test('a limit of its own is the one that counts, also after the token was replaced', async () => {
    await set({ 'limits.api_tokens': { test: { hooks: 50 } } });
    await expectFound(NOTHING);
    await set({ 'limits.api_tokens': null });
  });

  test('push notifications of tasks are counted by themselves', async () => {
    await set({ 'limits.hooks_per_api_token': 0, 'limits.task_hooks_per_api_token': 1 });
    await rows(
      `INSERT INTO hooks (id, url, events, token_family, message_id, config_id)
       VALUES ('hook_of_task', 'https://hooks.example.com/', '{}', $1, 'msg_x', 'x')`,
      [own],
    );
    await expectFound({
      status: 'warning',
      detail: 'used up: test (1 of 1 push notifications of tasks)',
      advice:
        'They go when their tasks are over: look for tasks that never end, or raise limits.task_hooks_per_api_token.',
    });
    await set({ 'limits.task_hooks_per_api_token': null });
  });
});

describe('turns, messages and attachments of a token', () => {
  afterEach(async () => {
    await rows('UPDATE sessions SET turn_owner = NULL, turn_lease_until = NULL');
    await rows('DELETE FROM turns');
    await rows('DELETE FROM token_storage');
  });

  test('that wait, that run, and that are stored: the fullest first, each with its way out', async () => {
    await set({
      'limits.waiting_messages_per_api_token': 10,
      'limits.turns_per_api_token': 1,
      'limits.stored_bytes_per_api_token': 1000,
    });
    await turns(9, 'waiting');
    await turns(1, 'running');
    // Of another replica, which is alive.
    await rows(
      `UPDATE sessions SET turn_owner = 'other:1', turn_lease_until = now() + interval '1 hour' WHERE id = $1`,
      [session],
    );
    await rows('INSERT INTO token_storage (token_family, slot, bytes) VALUES ($1, 0, 800)', [own]);
    await expectFound({
      status: 'warning',
      detail:
        'used up: test (1 of 1 turns at once); nearly used up: test (9 of 10 waiting messages), test (800 of 1000 bytes of attachments)',
      advice: [
        'Raise limits.turns_per_api_token, or send less at once.',
        'Add replicas or raise limits.turns_per_replica, so that messages wait for less time; else raise limits.waiting_messages_per_api_token.',
        'Raise limits.stored_bytes_per_api_token, or erase sessions: attachments go with their sessions.',
      ].join(' '),
    });
    await set({
      'limits.waiting_messages_per_api_token': null,
      'limits.turns_per_api_token': null,
      'limits.stored_bytes_per_api_token': null,
    });
  });
});

test('open streams: of one token, and all of them, at the replica that was asked', async () => {
  await set({ 'limits.streams_per_api_token': 1, 'streaming.max_viewers': 2 });
  const viewer = await SocketClient.open(`ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${session}`, {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  const lines = await EventStream.open(`${gateway.b.base}/logs?stream=true`, gateway.token);
  await expectFound(
    {
      status: 'warning',
      detail:
        'used up: test (1 of 1 viewers of sessions at this replica), test (1 of 1 log streams at this replica)',
      advice: 'Its readers should close what they no longer read; else raise limits.streams_per_api_token.',
    },
    'over HTTP',
  );
  await set({ 'streaming.max_viewers': 1, 'limits.streams_per_api_token': 0 });
  await expectFound(
    {
      status: 'warning',
      detail:
        'used up: all together (1 of 1 viewers of sessions at this replica), test (1 of 1 viewers of sessions at this replica)',
      advice:
        'Raise streaming.max_viewers, or add replicas. Its readers should close what they no longer read; else raise limits.streams_per_api_token.',
    },
    'over HTTP',
  );
  viewer.socket.close();
  lines.close();
  await set({ 'streaming.max_viewers': null, 'limits.streams_per_api_token': null });
  await expectFound(NOTHING);
});

test('a budget of which four fifths are spent', async () => {
  await set({ 'limits.all.daily_usd': 5 });
  const notice = (kind: 'warned' | 'reached') =>
    rows(
      `INSERT INTO budget_notices (scope, name, period, starts_on, limit_usd, notice)
       VALUES ('all', '', 'day', (now() AT TIME ZONE 'UTC')::date, 5, $1)`,
      [kind],
    );
  const advice = 'Raise it in [limits], or wait for the next day or month in UTC.';
  await notice('warned');
  await expectFound({ status: 'warning', detail: 'nearly used up: all (day)', advice });
  await notice('reached');
  await expectFound({ status: 'warning', detail: 'used up: all (day)', advice });
});

test('as a table: the part, its state, who, how much, and what to do, within 100 columns', async () => {
  for (const variables of [overHttp(gateway), onItsMachine(gateway)]) {
    const { code, stdout } = await runCommand(variables, 'doctor');
    expect(code).toBe(0);
    const said = stdout.replaceAll(/\s+/g, ' ');
    expect(said).toContain(
      'limits warning used up: all (day). Raise it in [limits], or wait for the next day',
    );
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(WIDEST);
  }
});
