import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { TurnEndingsStore } from '../../src/areas/turns/turn-endings.store.js';
import { WaitingPlaces } from '../../src/areas/turns/waiting-places.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { promptly } from '../harness/promptly.js';

interface History {
  messages: { message_id: string; role: string; content: string }[];
}

interface Refused {
  error: { details: { reason: string } };
}

let database: TestDatabase;
let replicas: TestGateway[];

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { GATEWAY__AGENT__MAX_WAITING: '100' };
  replicas = await Promise.all([1, 2, 3].map(() => startTestGateway({ database, env })));
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await database.drop();
});

const replica = (index: number): TestGateway => replicas[index % replicas.length] as TestGateway;

async function newSession(): Promise<string> {
  return (await replica(0).b.post<{ id: string }>('/sessions', {})).body.id;
}

test('50 parallel messages to one session over three replicas: every one answered, strictly in turn', async () => {
  const id = await newSession();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      replica(index).b.post<{ content: string }>(`/sessions/${id}/messages`, {
        content: `Message number ${index}`,
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
  const { body } = await replica(1).b.get<History>(`/sessions/${id}/messages?limit=500`);
  expect(body.messages.map(({ role }) => role)).toEqual(
    Array.from({ length: 100 }, (_, place) => (place % 2 === 0 ? 'user' : 'assistant')),
  );
  expect(
    new Set(body.messages.filter(({ role }) => role === 'user').map(({ content }) => content)).size,
  ).toBe(50);
  const { body: detail } = await replica(2).b.get<{ turn_count: number }>(`/sessions/${id}`);
  expect(detail.turn_count).toBe(50);
  const overlaps = await database.query(
    `SELECT one.id FROM turns one JOIN turns other ON other.session_id = one.session_id AND other.id <> one.id
     WHERE one.session_id = $1 AND one.started_at < other.ended_at AND other.started_at < one.ended_at`,
    [id],
  );
  expect(overlaps).toEqual([]);
});

test('messages that wait are answered in the order in which they came', async () => {
  const id = await newSession();
  const release = slowTool(replica(0));
  const first = replica(0).b.post(`/sessions/${id}/messages`, { content: '/call slow {}' });
  await waitFor(async () => (await waitingTurns(id)) === 0 && (await running(id)) === 1);
  const later: Promise<unknown>[] = [];
  for (let index = 0; index < 6; index += 1) {
    later.push(replica(index).b.post(`/sessions/${id}/messages`, { content: `waiting ${index}` }));
    await waitFor(async () => (await waitingTurns(id)) === index + 1);
  }
  release();
  await Promise.all([first, ...later]);
  const { body } = await replica(1).b.get<History>(`/sessions/${id}/messages`);
  const said = body.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  expect(said).toEqual(['/call slow {}', ...Array.from({ length: 6 }, (_, index) => `waiting ${index}`)]);
});

test('a new message does not overtake one that waits, even if the session is free', async () => {
  const id = await newSession();
  const [ahead] = await database.query<{ wait_until: Date }>(
    `INSERT INTO turns (id, session_id, user_message_id, status, wait_until)
     VALUES ('turn_ahead', $1, 'msg_ahead', 'waiting', now() + interval '1500 milliseconds') RETURNING wait_until`,
    [id],
  );
  expect((await replica(1).b.post(`/sessions/${id}/messages`, { content: 'behind' })).status).toBe(200);
  const [order] = await database.query<{ kept: boolean }>(
    `SELECT started_at >= $2 AS kept FROM turns WHERE session_id = $1 AND status = 'completed'`,
    [id, ahead?.wait_until],
  );
  expect(order).toEqual({ kept: true });
});

test('the place of a message is kept while its caller waits; one whose place expired is refused as busy, not as a revoked token', async () => {
  const id = await newSession();
  const release = slowTool(replica(0));
  const first = replica(0).b.post(`/sessions/${id}/messages`, { content: '/call slow {}' });
  await waitFor(async () => (await running(id)) === 1);
  const second = replica(1).b.post<Refused>(`/sessions/${id}/messages`, { content: 'second' });
  await waitFor(async () => (await waitingTurns(id)) === 1);
  const leaseOf = async (interval: string) =>
    database.query<{ kept: boolean }>(
      `SELECT wait_until > now() + $2::interval AS kept FROM turns WHERE session_id = $1 AND status = 'waiting'`,
      [id, interval],
    );
  const shorten = async (interval: string) =>
    database.query(
      `UPDATE turns SET wait_until = now() + $2::interval WHERE session_id = $1 AND status = 'waiting'`,
      [id, interval],
    );
  await shorten('4 seconds');
  await waitFor(async () => (await leaseOf('5 seconds'))[0]?.kept === true);
  const places = replica(1).started.app.get(WaitingPlaces, { strict: false });
  await places.onModuleDestroy();
  await shorten('0 seconds');
  const told = await second;
  expect([told.status, told.body.error.details.reason]).toEqual([409, 'turn_in_progress']);
  places.onApplicationBootstrap();
  release();
  expect((await first).status).toBe(200);
});

test('so is one whose place expired and was deleted before anyone looked', async () => {
  const id = await newSession();
  const release = slowTool(replica(0));
  const first = replica(0).b.post(`/sessions/${id}/messages`, { content: '/call slow {}' });
  await waitFor(async () => (await running(id)) === 1);
  const second = replica(1).b.post<Refused>(`/sessions/${id}/messages`, { content: 'second' });
  await waitFor(async () => (await waitingTurns(id)) === 1);
  await database.query(`DELETE FROM turns WHERE session_id = $1 AND status = 'waiting'`, [id]);
  const told = await second;
  expect([told.status, told.body.error.details.reason]).toEqual([409, 'turn_in_progress']);
  release();
  expect((await first).status).toBe(200);
});

test.each([
  [
    'deleted',
    2,
    `WITH gone AS (DELETE FROM turns WHERE session_id = $1 AND status = 'waiting' RETURNING user_message_id)
     DELETE FROM messages USING gone WHERE messages.id = gone.user_message_id`,
  ],
  [
    'cancelled',
    3,
    `WITH taken AS (
       UPDATE turns SET status = 'cancelled', ended_at = now() WHERE session_id = $1 AND status = 'waiting'
       RETURNING user_message_id, session_id
     ), counted AS (
       UPDATE sessions SET message_count = message_count + 1, turn_count = turn_count + 1 FROM taken WHERE id = session_id RETURNING message_count)
     UPDATE messages SET seq = message_count FROM counted, taken WHERE messages.id = taken.user_message_id`,
  ],
])(
  'one that is %s at the moment in which it would begin neither begins nor keeps the session',
  async (_what, turns, sql) => {
    const id = await newSession();
    const release = slowTool(replica(0));
    const first = replica(0).b.post(`/sessions/${id}/messages`, { content: '/call slow {}' });
    await waitFor(async () => (await running(id)) === 1);
    const second = replica(1).b.post(`/sessions/${id}/messages`, { content: 'second' });
    await waitFor(async () => (await waitingTurns(id)) === 1);
    // In one transaction, which has begun before the session becomes free, and ends afterwards.
    const eraser = new Client({ connectionString: database.directUrl });
    await eraser.connect();
    // It must not wait for whoever waits for it: that would be a deadlock.
    await eraser.query(`SET lock_timeout = '500ms'`);
    await eraser.query('BEGIN');
    await eraser.query(`SELECT 1 FROM turns WHERE session_id = $1 AND status = 'waiting' FOR UPDATE`, [id]);
    const waitsForEraser = async () => {
      const waiting = await database.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%turn_fence + 1%'`,
      );
      return waiting.length > 0;
    };
    // It looks several times meanwhile, and locks nothing while the session is busy.
    await sleep(500);
    expect(await waitsForEraser()).toBe(false);
    release();
    expect((await first).status).toBe(200);
    try {
      await waitFor(waitsForEraser);
      await eraser.query(sql, [id]);
      await eraser.query('COMMIT');
    } finally {
      await eraser.end();
    }
    expect((await second).status).toBe(409);
    const third = await replica(2).b.post(`/sessions/${id}/messages`, { content: 'third' });
    expect(third.status).toBe(200);
    const { body } = await replica(0).b.get<{ turn_count: number }>(`/sessions/${id}`);
    expect(body.turn_count).toBe(turns);
  },
);

test('a running turn cannot be closed by others, however often they look for lost ones', async () => {
  const id = await newSession();
  const release = slowTool(replica(0));
  const sent = replica(0).b.post(`/sessions/${id}/messages`, { content: '/call slow {}' });
  await waitFor(async () => (await running(id)) === 1);
  const closed = await replica(1).started.app.get(TurnEndingsStore, { strict: false }).recover();
  expect(closed.map(({ session_id }) => session_id)).not.toContain(id);
  expect(await running(id)).toBe(1);
  release();
  expect((await sent).status).toBe(200);
});

test('a message that waits is in no history, and one that waited too long leaves no trace', async () => {
  const impatient = await startTestGateway({ database, env: { GATEWAY__AGENT__MAX_WAIT_MS: '300' } });
  try {
    const id = await newSession();
    const release = slowTool(replica(0));
    const first = replica(0).b.post(`/sessions/${id}/messages`, { content: '/call slow {}' });
    await waitFor(async () => (await running(id)) === 1);
    const late = await impatient.b.post<{ error: { details: { reason: string } } }>(
      `/sessions/${id}/messages`,
      {
        content: 'too late',
      },
    );
    expect(late.status).toBe(409);
    expect(late.body.error.details.reason).toBe('turn_in_progress');
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    release();
    await first;
    const rows = await database.query(`SELECT id FROM messages WHERE content = 'too late'`);
    expect(rows).toEqual([]);
    expect(await waitingTurns(id)).toBe(0);
  } finally {
    await impatient.stop();
  }
});

test('DELETE through one replica aborts within a second the turn that another one runs', async () => {
  const id = await newSession();
  slowTool(replica(0));
  const sent = replica(0).b.post<{ error: { code: string } }>(`/sessions/${id}/messages`, {
    content: '/call slow {}',
  });
  await waitFor(async () => (await running(id)) === 1);
  const { status, body } = await promptly(2500, async () => {
    expect((await replica(1).b.delete(`/sessions/${id}`)).status).toBe(204);
    return sent;
  });
  expect(status).toBe(409);
  expect(body.error.code).toBe('conflict');
  const [turn] = await database.query<{ status: string }>('SELECT status FROM turns WHERE session_id = $1', [
    id,
  ]);
  expect(turn?.status).toBe('cancelled');
});

test('a turn whose replica is gone is closed as interrupted, and the session answers again', async () => {
  const id = await newSession();
  await replica(0).b.post(`/sessions/${id}/messages`, { content: 'Hello' });
  await database.query(
    `UPDATE sessions SET turn_owner = 'a replica that died', turn_lease_until = now() - interval '1 second',
       turn_fence = turn_fence + 1 WHERE id = $1`,
    [id],
  );
  await database.query(
    `INSERT INTO turns (id, session_id, user_message_id, status, fence, owner)
     SELECT 'turn_lost', id, 'msg_lost', 'running', turn_fence, turn_owner FROM sessions WHERE id = $1`,
    [id],
  );
  const answer = await replica(1).b.post(`/sessions/${id}/messages`, { content: 'Still there?' });
  expect(answer.status).toBe(200);
  const [turn] = await database.query<{ status: string; reason: string }>(
    `SELECT status, reason FROM turns WHERE id = 'turn_lost'`,
  );
  expect(turn).toEqual({ status: 'interrupted', reason: 'lease_expired' });
});

test('a replica that lost its lease cannot write any more', async () => {
  const id = await newSession();
  const release = slowTool(replica(0));
  const sent = replica(0).b.post<{ error: { details: { reason: string } } }>(`/sessions/${id}/messages`, {
    content: '/call slow {}',
  });
  await waitFor(async () => (await running(id)) === 1);
  await database.query('UPDATE sessions SET turn_fence = turn_fence + 1 WHERE id = $1', [id]);
  release();
  const { status, body } = await sent;
  expect(status).toBe(503);
  expect(body.error.details.reason).toBe('turn_interrupted');
  const { body: history } = await replica(1).b.get<History>(`/sessions/${id}/messages`);
  expect(history.messages.map(({ role }) => role)).toEqual(['user']);
});

/** A tool that answers when the test says so; each test registers it again. */
function slowTool(gateway: TestGateway): () => void {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  removeTool();
  removeTool = gateway.tools.register({
    name: 'slow',
    description: 'Answers when it is told to.',
    inputSchema: { type: 'object' },
    run: async () => {
      await released;
      return 'at last';
    },
  });
  return release;
}

let removeTool: () => void = () => undefined;

async function waitingTurns(id: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM turns WHERE session_id = $1 AND status = 'waiting'`,
    [id],
  );
  return row?.n ?? 0;
}

async function running(id: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM turns WHERE session_id = $1 AND status = 'running'`,
    [id],
  );
  return row?.n ?? 0;
}

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('waited for too long');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
