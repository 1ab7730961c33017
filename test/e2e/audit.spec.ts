import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AuditRetention } from '../../src/platform/audit-log/audit-retention.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type Ended, ProcessBench } from '../harness/gateway-process.js';
import { HookReceiver } from '../harness/hook-receiver.js';

jest.setTimeout(120_000);

const bench = new ProcessBench();
let receiver: HookReceiver;
let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  receiver = await HookReceiver.open();
  database = await createTestDatabase();
  gateway = await startTestGateway({ database });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([database.drop(), receiver.close(), bench.clear()]);
});

interface Row {
  readonly id: string;
  readonly actor: string;
  readonly address: string | null;
  readonly action: string;
  readonly subject: string;
  readonly result: string;
  readonly details: Record<string, unknown>;
}

const KEY = { GATEWAY_MASTER_KEY: 'a master key that only tests may use' };
const run = (...args: string[]): Promise<Ended> =>
  bench.run(['audit', ...args], { env: { DATABASE_URL: database.url, ...KEY } });
const listed = async (...args: string[]): Promise<readonly Row[]> =>
  (JSON.parse((await run('list', '--limit', '1000', '--json', ...args)).stdout) as { items: Row[] }).items;
const sealed = () =>
  eventually(async () => expect(await database.query('SELECT 1 FROM audit_unsealed')).toEqual([]));
/** Changes rows as someone with the database's password could. */
const tamper = (sql: string) => database.query(`SET session_replication_role = replica; ${sql}`);

test('Audit: every change by whom, from where, of what, with result', async () => {
  const { b } = gateway;
  const session = (await b.post<{ id: string }>('/sessions', {})).body.id;
  await b.post(`/sessions/${session}/messages`, { content: 'canary-in-a-message' });
  await b.delete(`/sessions/${session}`);
  const hook = (await b.post<{ id: string }>('/hooks', { url: receiver.url(), events: ['session.created'] }))
    .body.id;
  await b.delete(`/hooks/${hook}`);
  await b.patch('/config', { agent: { max_turns: 7 } });
  await b.post('/config/reload', {});
  const rows = await listed();
  const from = { actor: 'test', address: '127.0.0.1', result: 'success' };
  const by = { by_token: expect.stringMatching(/^tok_/) as string };
  for (const row of [
    { ...from, action: 'session.ended', subject: session, details: { ...by, session_id: session } },
    { ...from, action: 'hook.created', subject: hook, details: { ...by, events: ['session.created'] } },
    { ...from, action: 'hook.deleted', subject: hook, details: by },
    {
      ...{ ...from, action: 'config.changed', subject: 'configuration' },
      details: expect.objectContaining({ keys: ['agent.max_turns'] }) as object,
    },
  ])
    expect(rows).toContainEqual(expect.objectContaining(row));
  expect(rows.map(({ action }) => action)).toContain('token.created');
  expect(JSON.stringify(rows)).not.toContain('canary-in-a-message');
});

test('reading and exporting the audit is audited', async () => {
  await run('export');
  const [exported] = await listed('--action', 'audit.exported');
  expect(exported).toMatchObject({ subject: 'audit', address: null });
  expect(exported?.actor).toMatch(/command line/);
  expect(await listed('--action', 'audit.read')).not.toEqual([]);
});

test('failed logins (summed) are in the audit once the gateway stops', async () => {
  const other = await startTestGateway({ database });
  for (let times = 0; times < 5; times += 1) await other.caller('b', 'agw_wrong').get('/sessions');
  await other.stop();
  expect(await listed('--action', 'login.failed')).toMatchObject([
    {
      actor: 'unknown',
      address: '127.0.0.1',
      subject: '127.0.0.1',
      result: 'refused',
      details: { count: 5 },
    },
  ]);
});

test('`audit.*` events can be hooked, by name only', async () => {
  const { b } = gateway;
  for (const [path, events] of [
    ['/audit', ['audit.*']],
    ['/all', ['*']],
  ] as const)
    await b.post('/hooks', { url: receiver.url(path), events });
  await b.patch('/config', { agent: { max_turns: 8 } });
  await eventually(() => {
    const bodies = receiver.attempts
      .filter(({ path }) => path === '/audit')
      .map(({ body }) => body)
      .join('');
    expect(bodies).toMatch(/"action" ?: ?"config.changed"/);
  });
  const toAll = receiver.attempts
    .filter(({ path }) => path === '/all')
    .map(({ body }) => body)
    .join('');
  expect(toAll).toContain('config.updated');
  expect(toAll).not.toContain('audit.recorded');
});

test('rows are sealed within 1 s, by one keeper at a time, also of many replicas, and never updated', async () => {
  const others = await Promise.all([1, 2].map(() => startTestGateway({ database })));
  // A few at a time: two spec files and their gateways share a server with 50 connections.
  await Promise.all(
    Array.from({ length: 5 }, () =>
      database.query(
        `INSERT INTO audit_entries (action, actor, target, outcome, details)
         SELECT 'tool.called', 'ada', 'echo', 'success', '{"b":1,"a":{"d":[1,2],"c":"é"}}' FROM generate_series(1, 400)`,
      ),
    ),
  );
  await sealed();
  await Promise.all(others.map((other) => other.stop()));
  expect((await run('verify')).code).toBe(0);
  await expect(database.query(`UPDATE audit_entries SET actor = 'eve'`)).rejects.toThrow('never changed');
});

test.each([
  [
    'a changed row',
    `UPDATE audit_entries SET actor = 'eve' WHERE id = (SELECT max(id) - 9 FROM audit_entries)`,
    /was changed or moved/,
  ],
  [
    'a removed row',
    `DELETE FROM audit_entries WHERE id = (SELECT max(id) - 8 FROM audit_entries)`,
    /\(entry \d+\) was removed/,
  ],
  [
    'a row removed with its seal',
    `WITH gone AS (DELETE FROM audit_seals WHERE sequence = (SELECT max(sequence) - 7 FROM audit_seals) RETURNING entry_id)
     DELETE FROM audit_entries USING gone WHERE id = gone.entry_id`,
    /Rows \d+ to \d+ of the chain were removed/,
  ],
  [
    'reordered rows',
    `UPDATE audit_seals AS s SET entry_id = -o.entry_id FROM audit_seals AS o
     WHERE s.sequence + o.sequence = (SELECT max(sequence) * 2 - 7 FROM audit_seals) AND abs(s.sequence - o.sequence) = 1;
     UPDATE audit_seals SET entry_id = -entry_id WHERE entry_id < 0`,
    /was changed or moved[\s\S]*was changed or moved/,
  ],
  [
    'a row that was slipped in',
    `INSERT INTO audit_entries (action, actor, target, outcome, details) VALUES ('token.created', 'eve', 'x', 'success', '{}')`,
    /was written past the chain/,
  ],
])('%s is found by verify', async (_what, sql, sentence) => {
  await sealed();
  const rows = { entries: await all('audit_entries'), seals: await all('audit_seals') };
  await tamper(sql);
  const { code, stdout } = await run('verify');
  expect([code, stdout]).toEqual([1, expect.stringMatching(sentence)]);
  await sealed();
  await restore(rows);
  expect((await run('verify')).stdout).toMatch(/^All \d+ rows are as they were written/);
});

test('a removed tail shows against an exported head', async () => {
  const file = join(await bench.folder(), 'audit.ndjson');
  const { stdout, stderr } = await run('export');
  await writeFile(file, stdout);
  const head = /The head is (\S+)/.exec(stderr)?.[1] ?? '';
  expect((await run('verify', '--export', file)).code).toBe(0);
  await sealed();
  const rows = { entries: await all('audit_entries'), seals: await all('audit_seals') };
  await tamper(`WITH gone AS (DELETE FROM audit_seals WHERE sequence > ${Number(head.split(':')[0]) - 5} RETURNING entry_id)
    DELETE FROM audit_entries USING gone WHERE id = gone.entry_id`);
  expect((await run('verify')).code).toBe(0);
  for (const given of [
    ['--head', head],
    ['--export', file],
  ]) {
    // Each command writes a row of its own, so the forged chain may have the same length but not the same rows.
    const { code, stdout } = await run('verify', ...given);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/The end of the audit was removed|the chain was written anew/),
    ]);
  }
  await writeFile(file, stdout.replace('"session.ended"', '"session.erased"'));
  const changed = await run('verify', '--export', file);
  expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining('does not follow')]);
  await sealed();
  await restore(rows);
});

test('retention leaves a checkpoint signed with the master key', async () => {
  await sealed();
  await tamper(
    `UPDATE audit_entries SET happened_at = now() - interval '400 days' WHERE id <= (SELECT min(id) + 20 FROM audit_entries)`,
  );
  await rechain();
  await gateway.started.app.get(AuditRetention, { strict: false }).job.runAll();
  const { code, stdout } = await run('verify');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/from the checkpoint at 21 on/)]);
  await tamper(`UPDATE audit_checkpoints SET hash = sha256('other')`);
  const forged = await run('verify');
  expect([forged.code, forged.stdout]).toEqual([
    1,
    expect.stringContaining('was not signed with this master key'),
  ]);
});

type Rows = readonly Record<string, unknown>[];

async function all(table: string): Promise<string> {
  const [row] = await database.query<{ rows: Rows }>(
    `SELECT coalesce(json_agg(t), '[]') AS rows FROM ${table} AS t`,
  );
  return JSON.stringify(row?.rows);
}

async function restore({ entries, seals }: { entries: string; seals: string }): Promise<void> {
  await tamper('TRUNCATE audit_entries, audit_seals, audit_unsealed');
  for (const [table, rows] of [
    ['audit_entries', entries],
    ['audit_seals', seals],
  ] as const)
    await tamper(
      `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${table}, '${rows.replaceAll("'", "''")}')`,
    );
}

/** Makes the database look as if rows of that age had been migrated. */
async function rechain(): Promise<void> {
  await tamper('TRUNCATE audit_seals; INSERT INTO audit_unsealed SELECT id FROM audit_entries');
  await sealed();
}

test('`GET /admin/v1/audit?actor=&action=&subject=&since=&cursor=`: pages, scope, and itself', async () => {
  const secret = await gateway.mint({ name: 'auditor', scopes: ['audit:read'] });
  const auditor = gateway.adminCaller(secret);
  interface Page {
    readonly items: readonly Row[];
    readonly next_cursor: string | null;
  }
  const first = (await auditor.get<Page>('/audit?action=tool.called&limit=3')).body;
  expect(first.items).toHaveLength(3);
  const next = (await auditor.get<Page>(`/audit?action=tool.called&limit=3&cursor=${first.next_cursor}`))
    .body;
  expect(next.items.map(({ id }) => id)).not.toEqual(first.items.map(({ id }) => id));
  expect((await auditor.get(`/audit?limit=3&cursor=${first.next_cursor}`)).status).toBe(400);
  const own = (await auditor.get<Page>('/audit?actor=auditor&subject=audit&since=1h')).body;
  expect(own.items[0]).toMatchObject({ action: 'audit.read', actor: 'auditor', address: '127.0.0.1' });
  const hooks = await gateway.mint({ name: 'hooker', scopes: ['hooks:write'] });
  expect((await gateway.adminCaller(hooks).get('/audit')).status).toBe(403);
  const wish = { url: receiver.url(), events: ['audit.*'] };
  expect((await gateway.caller('b', hooks).post('/hooks', wish)).status).toBe(403);
});
