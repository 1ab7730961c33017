import { ERASURE_PLAN } from '../../src/areas/privacy/erasure-plan.js';
import { personOf, personParams } from '../../src/areas/privacy/person.js';
import { GIVEN, PERSON, PLANNED_TABLES } from '../../src/areas/privacy/plan.sql.js';
import { statement, valuesGiven } from '../../src/platform/database/statement.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { everyRow } from '../harness/every-row.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';

jest.setTimeout(120_000);

const USER = 'corp|ada-4711';
const CANARY = 'canaryseventeen';
const KEY = { GATEWAY_MASTER_KEY: 'a master key that only tests may use' };
const person = personOf(USER, Buffer.from('any'));
const bench = new ProcessBench();
let database: TestDatabase;
let receiver: HookReceiver;
let provider: ScriptedProvider;
let gateways: readonly TestGateway[];
beforeAll(async () => {
  [database, receiver, provider] = await Promise.all([
    createTestDatabase(),
    HookReceiver.open(),
    startScriptedProvider(),
  ]);
  const env = {
    GATEWAY__PROVIDER__KIND: 'openai',
    GATEWAY__PROVIDER__MODEL: 'm',
    GATEWAY__PROVIDER__API_KEY: 'key-1234',
    GATEWAY__PROVIDER__BASE_URL: `${provider.url}/v1`,
    GATEWAY__LOGGING__LEVEL: 'debug',
    GATEWAY__LOGGING__REQUESTS: 'all',
  };
  gateways = [await startTestGateway({ database, env }), await startTestGateway({ database, env })];
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await Promise.all([database.drop(), receiver.close(), provider.stop(), bench.clear()]);
});

const run = (...args: string[]) =>
  bench.run(['user', ...args], { env: { DATABASE_URL: database.url, ...KEY } });
const answered = () =>
  provider.script((response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Yes.' } }] })}\n\n`);
    response.end(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
    );
  });
/** Never answers. */
const stuck = () =>
  provider.script((response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.write(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: `Well, ${CANARY}` } }] })}\n\n`,
    );
  });

/**
 * Everything that a user can do.
 * @returns the session
 */
async function live(gateway: TestGateway, user: string, text: string): Promise<string> {
  const token = await gateway.mint({ name: `laptop of ${user.replace('|', ' ')} ${text}`, user });
  const caller = gateway.caller('a', token);
  await caller.post('/hooks', {
    url: receiver.url(`/${text}`),
    events: ['*'],
    secret: `a secret of ${text}`,
  });
  const body = { system_prompt: `You know ${text}.` };
  const session = (
    await caller.post<{ session_id: string }>('/sessions', body, { 'idempotency-key': `${user}-1` })
  ).body.session_id;
  const attachments = [
    {
      type: 'file',
      name: `${text}.txt`,
      mime_type: 'text/plain',
      data: Buffer.from(text).toString('base64'),
    },
  ];
  const said = await caller.post(
    `/sessions/${session}/messages`,
    { content: `I am ${text}`, attachments },
    { 'idempotency-key': `${user}-2` },
  );
  expect(said.status).toBe(200);
  return session;
}

/** Rows that are rarely written. */
async function plantRareRows(session: string, user: string, text: string): Promise<void> {
  const [turn] = await database.query<{ id: string; message: string }>(
    `SELECT id, user_message_id AS message FROM turns WHERE session_id = '${session}'`,
  );
  const json = JSON.stringify({ text });
  // What is forgotten after a while ends in an hour, so that a slow machine exports it, too.
  const inAnHour = `now() + interval '1 hour'`;
  for (const sql of [
    `UPDATE turns SET ended_at = ${inAnHour} WHERE id = '${turn?.id}'`,
    `INSERT INTO turn_frames (turn_id, n, events) VALUES ('${turn?.id}', 1, '${json}')`,
    `INSERT INTO turn_steps (turn_id, number, kind, content) VALUES ('${turn?.id}', 1, 'asked', '${json}')`,
    `INSERT INTO turn_files (turn_id, step, place, name, mime_type, data) VALUES ('${turn?.id}', 1, 1, '${text}', 'text/plain', '${text}')`,
    `INSERT INTO responses (turn_id, request, created_at) VALUES ('${turn?.id}', '${json}', now())`,
    `INSERT INTO channel_approvals (approval_id, channel, code, target, session_id, asker, title, details, status)
     VALUES ('appr_${user}', 'desk', 'code of ${user}', '${json}', '${session}', '${user}', '${text}', '${text}', 'closed')`,
    `INSERT INTO session_audiences (session_id, replica, wanted_until) VALUES ('${session}', '${text}', ${inAnHour})`,
    `INSERT INTO tool_approvals (id, call_id, tool, arguments, session_id, channel, user_id, expires_at)
     VALUES ('appr_${user}', 'c', 't', '${json}', '${session}', 'api', '${user}', now())`,
    `INSERT INTO tool_questions (id, call_id, tool, session_id, agent, channel, user_id, acts_for, message, schema, expires_at, awaited_until)
     VALUES ('ques_${user}', 'c', 't', '${session}', 'default', 'api', '${user}', '${user}', '${text}', '${json}', now(), now())`,
    `INSERT INTO channel_conversations (channel, conversation, session_id, sole_user) VALUES ('desk', '${text}', '${session}', '${user}')`,
    `INSERT INTO channel_messages (channel, conversation, external_id, message_id, user_id, content, target)
     VALUES ('desk', '${text}', '${text}', '${turn?.message}', '${user}', '${text}', '${json}')`,
    `INSERT INTO channel_replies (message_id, part, content, status, error) VALUES ('${turn?.message}', 1, '${text}', 'sent', '${text}')`,
    `INSERT INTO memory_entries (id, user_id, content, digest, words, session_id)
     VALUES ('mem_${user}', '${user}', '${text}', '${text}', array_to_tsvector(ARRAY['${personParams(personOf(user, Buffer.from('any'))).mark}${text}']), '${session}')`,
    `INSERT INTO conversation_summaries (session_id, content, model, first_seq, last_seq) SELECT '${session}', '${text}', 'm', 1, 1`,
    `INSERT INTO log_entries (id, at, level, module, message) SELECT max(id) + 1000000, now(), 3, 'x', 'said user_id=${user} ${text}' FROM log_entries`,
    `INSERT INTO hooks (id, url, events, message_id, config_id)
     VALUES ('hook_of_${text}', 'http://127.0.0.1/${text}', '{}', '${turn?.message}', '${text}')`,
    `INSERT INTO rate_buckets (key, full_at_ms, token_ms, granted)
     VALUES ('token:${user} other', extract(epoch FROM ${inAnHour}) * 1000, 1, 1)`,
  ])
    await database.query(sql).catch((error: unknown) => {
      throw new Error(`${sql}: ${String(error)}`);
    });
}

/** Columns with a fixed set of words, which the database checks. */
const isFixedWord = (column: string): boolean =>
  /^(role|status|kind|incomplete|finish_reason|inactive_reason|verdict)$/.test(column);

/**
 * Writes a canary into every text and JSON column that no other row refers to.
 * @returns the columns
 */
async function plantCanaries(): Promise<readonly string[]> {
  const columns = await database.query<{ table: string; column: string; type: string }>(
    `SELECT c.table_name AS "table", c.column_name AS "column", c.data_type AS type FROM information_schema.columns AS c
     WHERE c.table_schema = 'public' AND c.data_type IN ('text', 'json', 'jsonb', 'bytea') AND c.is_generated = 'NEVER'
       AND c.column_name !~ '(^|_)(id|family|key|scope|word|channel)$' AND c.column_name NOT IN ('sole_user', 'turn_owner', 'made_with')
       AND NOT EXISTS (SELECT 1 FROM information_schema.key_column_usage AS k
         WHERE k.table_name = c.table_name AND k.column_name = c.column_name)`,
  );
  const planted: string[] = [];
  for (const { table, column, type } of columns) {
    const plan = ERASURE_PLAN[table];
    const place = `${table}.${column}`;
    if (plan?.mine === undefined || isFixedWord(column) || plan.secret?.includes(column) === true) continue;
    // Names that operators chose stay with the rows that stay.
    if (plan.stays === true && column in (plan.kept ?? {}) && !['name', 'api_token'].includes(column))
      continue;
    const value = type === 'bytea' ? `'${CANARY}'::bytea` : type === 'text' ? `'${CANARY}'` : null;
    const set =
      value ??
      `('{"${CANARY}":' || coalesce(to_json(${column}::text), 'null') || ',"user":' || given.json || '}')::${type}`;
    if (place === 'log_entries.message' || place === 'idempotency_keys.body' || place === 'events.data')
      continue;
    const plant = statement({
      name: `test.plant_${table}_${column}`,
      params: PERSON,
      row: {},
      sql: `WITH ${GIVEN} UPDATE ${table} SET ${column} = ${set} FROM given WHERE ${table}.ctid IN (
         SELECT t.ctid FROM ${table} AS t, given WHERE ${plan.mine})`,
    });
    await database.query(plant.text, [...valuesGiven(plant, personParams(person))]);
    planted.push(place);
  }
  return planted;
}

interface ExportedTable {
  readonly table: string;
  readonly rows: readonly Record<string, unknown>[];
}

let mine: string;
let others: string;

test('export read back is complete: one JSON document a table, with every row and text of the person', async () => {
  const [one] = gateways as [TestGateway, TestGateway];
  answered();
  mine = await live(one, USER, CANARY);
  others = await live(one, 'tom', 'othersixteen');
  await plantRareRows(mine, USER, CANARY);
  await plantRareRows(others, 'tom', 'othersixteen');
  await eventually(async () =>
    expect(await database.query(`SELECT 1 FROM hook_deliveries WHERE status = 'pending'`)).toEqual([]),
  );
  const planted = await plantCanaries();
  // What the person's own tokens spent, by the new names of these tokens.
  for (const [table, columns, values] of [
    ['budget_spending', 'day, cost_usd', 'current_date, 1'],
    ['budget_notices', 'period, starts_on, limit_usd, notice', `'day', current_date, 1, 'warned'`],
  ])
    await database.query(
      `INSERT INTO ${table} (scope, name, ${columns}) SELECT 'api_tokens', name, ${values} FROM api_tokens WHERE user_id IS NOT NULL`,
    );
  const { code, stdout, stderr } = await run('export', USER);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^\d+ rows are about this user/)]);
  const documents = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ExportedTable);
  const tables = new Map(documents.map(({ table, rows }) => [table, rows]));
  for (const [table, rows] of tables) {
    const { count } = PLANNED_TABLES.find((planned) => planned.table === table)!.rows!;
    const values = valuesGiven(count, personParams(person));
    const [row] = await database.query<{ n: number }>(count.text, [...values]);
    const isLog = table === 'log_entries' || table === 'rate_buckets';
    if (!isLog) expect([table, rows.length]).toEqual([table, row?.n]);
    if (!/usage|budget/.test(table)) expect([table, rows.length > 0]).toEqual([table, true]);
  }
  const hex = Buffer.from(CANARY).toString('hex');
  const without = planted.filter((place) => {
    const [table = '', column = ''] = place.split('.');
    const rows = tables.get(table) ?? [];
    return (
      rows.length > 0 &&
      !rows.some(
        (row) =>
          JSON.stringify(row[column] ?? '').includes(CANARY) || JSON.stringify(row[column]).includes(hex),
      )
    );
  });
  expect(without).toEqual([]);
  expect(stdout).not.toContain('othersixteen');
  expect(stdout).not.toContain('agw1:');
});

test('erasure: a canary in every text and JSON column, then every row of every table has it 0 times', async () => {
  const [one, two] = gateways as [TestGateway, TestGateway];
  stuck();
  const running = two.b.post(
    `/sessions/${(await two.b.post<{ id: string }>('/sessions', { user_id: USER })).body.id}/messages`,
    {
      content: CANARY,
    },
  );
  await eventually(async () =>
    expect(await database.query(`SELECT 1 FROM turns WHERE status = 'running'`)).toHaveLength(1),
  );
  const asked = await run('erase', USER);
  expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('--yes')]);
  const { code, stderr } = await run('erase', USER, '--yes');
  expect([code, stderr]).toEqual([0, expect.stringMatching(/\d+ rows of this user were deleted/)]);
  expect((await running).status).toBeGreaterThanOrEqual(400);
  const rows = await everyRow(database);
  const lines = rows.split('\n');
  // The audit never changes: it has tokens under their old names.
  const entries = await database.query<{ row: string }>('SELECT t::text AS row FROM audit_entries AS t');
  const audited = new Set(entries.map(({ row }) => row));
  expect(lines.filter((line) => line.includes(CANARY) && !audited.has(line))).toEqual([]);
  expect(rows).not.toContain(Buffer.from(CANARY).toString('hex'));
  // The audit records who was erased, and that it was done.
  const naming = await database.query<{ rows: string }>(
    `SELECT t::text AS rows FROM audit_entries AS t WHERE t::text LIKE '%${USER}%'`,
  );
  expect(lines.filter((line) => line.includes(USER)).length).toBe(naming.length);
  expect(
    await database.query(
      `SELECT action FROM audit_entries WHERE action = 'user.erased' AND target = '${USER}'`,
    ),
  ).toHaveLength(1);
  // What the person's tokens created has ended. Other tokens keep everything.
  const tokens = await database.query(
    `SELECT name, revoked_at IS NULL AS alive FROM api_tokens WHERE user_id LIKE 'erased-%'`,
  );
  expect(tokens).toEqual([{ name: 'erased', alive: false }]);
  expect((await one.b.get(`/sessions/${others}`)).status).toBe(200);
  expect((await one.b.get(`/sessions/${mine}`)).status).toBe(404);
  expect(rows).toContain('othersixteen');
});

test('an erasure can be repeated', async () => {
  const again = await run('erase', USER, '--yes', '--json');
  expect([again.code, JSON.parse(again.stdout)]).toEqual([0, expect.objectContaining({ configuration: [] })]);
});
