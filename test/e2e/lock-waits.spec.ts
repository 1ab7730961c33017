import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { ReplyStore } from '../../src/areas/channels/replies/reply.store.js';
import { MemoryStore } from '../../src/areas/memory/memory.store.js';
import { LEASE_SECS } from '../../src/areas/turns/turn-lease.js';
import { ReplicaId } from '../../src/platform/lifecycle/replica-id.js';
import { RateBucketStore } from '../../src/platform/rate-limits/rate-bucket.store.js';
import type { TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { lockWaits } from '../harness/lock-waits.js';

/**
 * Statements that wait for somebody else's lock: what they read before they waited is old by then (READ COMMITTED shows them
 * the row that they waited for as it is now, and all else as it was).
 */
const bench = new ProcessBench();
let database: TestDatabase;
let gateway: TestGateway;
/** Holds locks. */
let other: Client;
beforeAll(async () => {
  gateway = await startTestGateway();
  ({ database } = gateway);
});
beforeEach(async () => {
  other = new Client({ connectionString: database.directUrl });
  await other.connect();
  await other.query('BEGIN');
});
afterEach(() => other.end());
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

const insertMemories = (user: string, count: number) =>
  database.query(
    `INSERT INTO memory_entries (id, user_id, content, digest, words, session_id, used_at)
     SELECT 'mem_' || $1 || n, $1, 'fact ' || n, 'digest ' || n, '', 'sess_x', now() - make_interval(days => n)
     FROM generate_series(1, $2::int) AS n`,
    [user, count],
  );
const memoriesOf = async (user: string): Promise<string[]> =>
  (
    await database.query<{ content: string }>(
      'SELECT content FROM memory_entries WHERE user_id = $1 ORDER BY used_at DESC',
      [user],
    )
  ).map(({ content }) => content);

test('a replica that waited for another gives back nothing of what the other took of a limit', async () => {
  const store = gateway.started.app.get(RateBucketStore, { strict: false });
  const bucket = { key: 'waited-for', limitPerSecond: 1, tokens: 1 };
  await store.consume([bucket]);
  await other.query(`SELECT 1 FROM rate_buckets WHERE key = 'waited-for' FOR UPDATE`);
  const waited = store.consume([bucket]);
  await lockWaits(database, 1);
  await sleep(400);
  // As a replica that takes the token.
  const now = `extract(epoch FROM clock_timestamp())::float8 * 1000`;
  await other.query(`UPDATE rate_buckets SET full_at_ms = ${now} + 1000 WHERE key = 'waited-for'`);
  const [taken] = (await other.query<{ at: number }>('SELECT full_at_ms AS at FROM rate_buckets')).rows;
  await other.query('COMMIT');
  expect((await waited).get('waited-for')?.granted).toBe(0);
  const [left] = await database.query<{ at: number }>('SELECT full_at_ms AS at FROM rate_buckets');
  expect(left!.at).toBeGreaterThanOrEqual(taken!.at);
});

test('two that trim the memories of one person leave as many as there may be', async () => {
  await insertMemories('ada', 12);
  await other.query(`SELECT 1 FROM memory_users WHERE user_id = 'ada' FOR UPDATE`);
  const store = gateway.started.app.get(MemoryStore, { strict: false });
  const trimmed = [store.trim('ada', 10), store.trim('ada', 10)];
  await lockWaits(database, 2);
  await other.query('COMMIT');
  expect((await Promise.all(trimmed)).sort()).toEqual([0, 2]);
  expect(await memoriesOf('ada')).toEqual(Array.from({ length: 10 }, (_, n) => `fact ${n + 1}`));
});

test('an erasure finds the row that somebody else has changed meanwhile', async () => {
  await insertMemories('bob', 3);
  await other.query(`UPDATE memory_entries SET used_at = now() WHERE id = 'mem_bob2'`);
  const erased = bench.run(['user', 'erase', 'bob', '--yes'], {
    env: { DATABASE_URL: database.url, GATEWAY_MASTER_KEY: 'a master key that only tests may use' },
  });
  await lockWaits(database, 1);
  await other.query('COMMIT');
  expect((await erased).code).toBe(0);
  expect(await memoriesOf('bob')).toEqual([]);
});

test('a conversation is not claimed while its holder begins to send', async () => {
  const { value: replica } = gateway.started.app.get(ReplicaId, { strict: false });
  await database.query(
    `INSERT INTO channel_conversations (channel, conversation, owner, lease_until, fence)
     VALUES ('none', 'talk', $1, now() - interval '1 second', 7)`,
    [replica],
  );
  await database.query(
    `INSERT INTO channel_replies (message_id, part, content, status) VALUES ('msg_talk', 1, 'Hello', 'pending')`,
  );
  await other.query(`SELECT 1 FROM channel_replies WHERE message_id = 'msg_talk' FOR UPDATE`);
  const store = gateway.started.app.get(ReplyStore, { strict: false });
  const claim = { channel: 'none', conversation: 'talk', fence: 7, sessionId: null, failures: 0 };
  const message = { messageId: 'msg_talk' } as Parameters<ReplyStore['sending']>[1];
  const sending = store.sending(claim, message, 1);
  await lockWaits(database, 1);
  const claimed = await database.query(
    `UPDATE channel_conversations SET owner = 'another', fence = fence + 1 WHERE (channel, conversation) IN (
       SELECT channel, conversation FROM channel_conversations WHERE channel = 'none' FOR UPDATE SKIP LOCKED) RETURNING 1`,
  );
  expect(claimed).toEqual([]);
  await other.query('COMMIT');
  await sending;
});

describe('a message with attachments, while another of the same token stores its own', () => {
  // For how long a lease or a place was granted, at the moment when it was.
  beforeAll(() =>
    database.query(
      `CREATE TABLE granted (what text, secs float8);
       CREATE FUNCTION note_granted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO granted VALUES (TG_TABLE_NAME,
           extract(epoch FROM (to_jsonb(NEW) ->> TG_ARGV[0])::timestamptz - clock_timestamp())); RETURN NEW; END $$;
       CREATE TRIGGER note_granted BEFORE UPDATE ON sessions FOR EACH ROW
         WHEN (NEW.turn_owner IS NOT NULL AND OLD.turn_owner IS NULL) EXECUTE FUNCTION note_granted('turn_lease_until');
       CREATE TRIGGER note_granted BEFORE INSERT ON turns FOR EACH ROW
         WHEN (NEW.status = 'waiting') EXECUTE FUNCTION note_granted('wait_until')`,
    ),
  );

  const grantedSecs = async (what: string): Promise<number | undefined> =>
    (await database.query<{ secs: number }>('SELECT secs FROM granted WHERE what = $1', [what]))[0]?.secs;
  const attachments = [
    { type: 'file', mime_type: 'text/plain', data: Buffer.from('text').toString('base64') },
  ];
  const holdBytes = () =>
    other.query(
      `SELECT pg_advisory_xact_lock(hashtextextended('stored bytes of ' || coalesce(family_id, id), 0)) FROM api_tokens`,
    );
  const isLocked = async (session: string): Promise<boolean> => {
    const rows = await database.query('SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE SKIP LOCKED', [
      session,
    ]);
    return rows.length === 0;
  };
  const say = (session: string, body: object) => gateway.b.post(`/sessions/${session}/messages`, body);
  const newSession = async () => (await gateway.b.post<{ id: string }>('/sessions', {})).body.id;

  test('waits without its session, and its lease begins afterwards', async () => {
    const session = await newSession();
    await holdBytes();
    const said = say(session, { content: 'Hello', attachments });
    await lockWaits(database, 1);
    await sleep(1500);
    expect(await isLocked(session)).toBe(false);
    await other.query('COMMIT');
    expect((await said).status).toBe(200);
    expect(await grantedSecs('sessions')).toBeGreaterThan(LEASE_SECS - 1);
  });

  test('waits without its session, which is busy, and its place in line begins afterwards', async () => {
    // No turn is free for it, so it goes to the line at once.
    await gateway.b.patch('/config', { 'limits.turns_per_replica': 1 });
    let release: (answer: string) => void = () => undefined;
    const answer = new Promise<string>((resolve) => (release = resolve));
    const slow = {
      name: 'slow',
      description: 'Answers when it is told to.',
      inputSchema: { type: 'object' as const },
      run: () => answer,
    };
    gateway.tools.register(slow);
    const session = await newSession();
    const first = say(session, { content: '/call slow {}' });
    const running = `SELECT 1 FROM turns WHERE session_id = $1 AND status = 'running'`;
    await eventually(async () => expect(await database.query(running, [session])).toHaveLength(1));
    await holdBytes();
    const second = say(session, { content: 'Hello', attachments });
    await lockWaits(database, 1);
    await sleep(1500);
    expect(await isLocked(session)).toBe(false);
    await other.query('COMMIT');
    await eventually(async () => expect(await grantedSecs('turns')).toBeGreaterThan(LEASE_SECS - 1));
    release('at last');
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  });
});
