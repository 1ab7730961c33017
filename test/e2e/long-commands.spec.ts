import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { everyRow } from '../harness/every-row.js';
import { startTestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { lockWaits } from '../harness/lock-waits.js';

/** "Long commands show progress on a terminal (rows done of rows to do), can be interrupted and repeated." */
jest.setTimeout(180_000);

const USER = 'ada-4711';
const [OLD_KEY, NEW_KEY] = [0, 1].map(() => randomBytes(32).toString('base64')) as [string, string];
const BOTH = { GATEWAY_MASTER_KEY: NEW_KEY, GATEWAY_MASTER_KEY_PREVIOUS: OLD_KEY };

const bench = new ProcessBench();
let database: TestDatabase;
let receiver: HookReceiver;
beforeAll(async () => {
  [database, receiver] = await Promise.all([createTestDatabase(), HookReceiver.open()]);
  const gateway = await startTestGateway({ database, env: { GATEWAY_MASTER_KEY: OLD_KEY } });
  const { body } = await gateway.b.post<{ id: string }>('/sessions', { user_id: USER });
  expect((await gateway.b.post(`/sessions/${body.id}/messages`, { content: 'I am Ada.' })).status).toBe(200);
  await database.query(
    `INSERT INTO messages (id, session_id, turn_id, seq, role, content)
     SELECT 'msg_long' || n, $1, 'turn_long', 10 + n, 'user', 'Ada said ' || n FROM generate_series(1, 1200) AS n`,
    [body.id],
  );
  await database.query(
    `INSERT INTO memory_entries (id, user_id, content, digest, words, session_id)
     VALUES ('mem_long', $1, 'Ada likes tea.', 'tea', array_to_tsvector(ARRAY['tea']), $2)`,
    [USER, body.id],
  );
  for (let hook = 0; hook < 3; hook += 1) {
    const wish = {
      url: receiver.url(),
      events: ['session.created'],
      secret: 'a secret of eight and more',
    };
    expect((await gateway.b.post('/hooks', wish)).status).toBe(201);
  }
  // From now on only the command under test waits for locks.
  await gateway.stop();
});
afterAll(() => Promise.all([bench.clear(), database.drop(), receiver.close()]));

const env = (keys: Record<string, string> = { GATEWAY_MASTER_KEY: OLD_KEY }) => ({
  DATABASE_URL: database.url,
  ...keys,
});

/** Starts a command that stops at the lock, interrupts it there, and releases the lock. */
async function interrupted(
  args: readonly string[],
  { lock, signal, keys }: { lock: string; signal: NodeJS.Signals; keys?: Record<string, string> },
): Promise<void> {
  const holder = new Client({ connectionString: database.directUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(lock);
    const command = bench.begin(args, { env: env(keys) });
    await lockWaits(database, 1, 60_000);
    command.kill(signal);
    const ended = await command.ended;
    expect([ended.code, ended.signal]).not.toEqual([0, null]);
  } finally {
    await holder.query('ROLLBACK');
    await holder.end();
  }
  await lockWaits(database, 0);
}

const audited = async (action: string): Promise<number> =>
  (await database.query('SELECT 1 FROM audit_entries WHERE action = $1', [action])).length;

test.each([
  ['audit', 'verify'],
  ['audit', 'export'],
  ['user', 'export', USER],
])('on a terminal "%s %s" shows rows done of rows to do', async (...args) => {
  const { code, stdout } = await bench.runOnTerminal(args, { env: env() });
  const shown =
    stdout.match(/(?:audit verify|audit export|user export): (\d+) of (\d+) rows \(\d+ %\)/g) ?? [];
  expect([code, shown.at(-1)]).toEqual([0, expect.stringMatching(/: (\d+) of \1 rows \(100 %\)/)]);
});

test.each(['SIGINT', 'SIGKILL'] as const)(
  '"audit verify" and "audit export" that are ended by %s are repeated',
  async (signal) => {
    const lock = 'LOCK TABLE audit_seals IN ACCESS EXCLUSIVE MODE';
    for (const command of ['verify', 'export']) {
      await interrupted(['audit', command], { lock, signal });
      expect((await bench.run(['audit', command], { env: env() })).code).toBe(0);
    }
  },
);

test('"user export" that is interrupted is repeated, and is complete', async () => {
  const lock = 'LOCK TABLE memory_entries IN ACCESS EXCLUSIVE MODE';
  const before = await audited('user.exported');
  await interrupted(['user', 'export', USER], { lock, signal: 'SIGINT' });
  expect(await audited('user.exported')).toBe(before);
  const { code, stdout } = await bench.run(['user', 'export', USER], { env: env() });
  expect([code, stdout]).toEqual([0, expect.stringContaining('Ada likes tea.')]);
});

test.each(['SIGINT', 'SIGKILL'] as const)(
  '"secrets rotate" that is ended by %s half way is repeated',
  async (signal) => {
    const lock = `SELECT 1 FROM hooks WHERE id = (SELECT max(id) FROM hooks) FOR UPDATE`;
    await interrupted(['secrets', 'rotate'], { lock, signal, keys: BOTH });
    expect(await everyRow(database)).toMatch(/agw1:[0-9a-f]{8}:/);
  },
);

test('and shows rows done of rows to do, until everything is sealed with the new key', async () => {
  const { code, stdout } = await bench.runOnTerminal(['secrets', 'rotate'], { env: env(BOTH) });
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/secrets rotate: \d+ of \d+ rows[\s\S]*can be removed/),
  ]);
  const keys = new Set([...(await everyRow(database)).matchAll(/agw1:([0-9a-f]{8}):/g)].map(([, id]) => id));
  expect(keys.size).toBe(1);
});

test.each(['SIGINT', 'SIGKILL'] as const)(
  '"user erase" that is ended by %s half way says nowhere that it was done',
  async (signal) => {
    const lock = `SELECT 1 FROM memory_entries WHERE user_id = '${USER}' FOR UPDATE`;
    // The statement ends when the lock is free: a memory replaces another one.
    await interrupted(['user', 'erase', USER, '--yes'], { lock, signal, keys: BOTH });
    expect(await database.query(`SELECT 1 FROM messages WHERE id LIKE 'msg_long%'`)).toEqual([]);
    expect(await audited('user.erased')).toBe(0);
    await database.query(
      `INSERT INTO memory_entries (id, user_id, content, digest, words, session_id)
     VALUES ('mem_again', $1, 'Ada likes tea.', 'tea', array_to_tsvector(ARRAY['tea']), 'sess_gone') ON CONFLICT DO NOTHING`,
      [USER],
    );
  },
);

test('repeated on a terminal it shows rows done of rows to do, and nothing of the person is left', async () => {
  const { code, stdout } = await bench.runOnTerminal(['user', 'erase', USER, '--yes'], { env: env(BOTH) });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/user erase: (\d+) of \1 rows \(100 %\)/)]);
  expect(await audited('user.erased')).toBe(1);
  const rows = (await everyRow(database)).split('\n').filter((line) => /Ada (said|likes)/.test(line));
  expect(rows).toEqual([]);
});
