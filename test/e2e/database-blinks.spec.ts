import { setTimeout } from 'node:timers/promises';
import { LEASE_SECS } from '../../src/areas/turns/turn-lease.js';
import { WaitingPlaces } from '../../src/areas/turns/waiting-places.service.js';
import { Database } from '../../src/platform/database/database.js';
import { ConnectionLost, DatabaseAway } from '../../src/platform/database/database-failure.js';
import { ToolLedger } from '../faults/support/tool-ledger.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { FaultProxy } from '../harness/fault-proxy.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { Answer } from '../harness/http-caller.js';
import { asking, McpBench, serverB } from '../harness/mcp.js';
import { newSession } from '../harness/turn-stream.js';

/** Turns are held by their replica while they wait, so that it continues them itself. */
const SETTINGS = `
[turns]
park_after_ms = 60000
[tools.approval]
ask = ["ledger__note"]
`;

let database: TestDatabase;
let way: FaultProxy;
let ledger: ToolLedger;
let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  ledger = await ToolLedger.start();
  const servers = {
    ledger: { transport: 'http', url: ledger.url },
    trip: asking(`trip-${process.pid}`),
  };
  bench = await McpBench.make(servers, SETTINGS);
  database = await createTestDatabase();
  way = await FaultProxy.to(database.url);
  gateway = await startTestGateway({ env: bench.env, database: { ...database, url: way.url } });
  for (const name of Object.keys(servers))
    await eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'), 30_000);
}, 60_000);
afterEach(async () => {
  jest.restoreAllMocks();
  await way.mend();
});
afterAll(async () => {
  await gateway.stop();
  await way.cut();
  await database.drop();
  await bench.clear();
  await ledger.stop();
});

const own = () => gateway.started.app.get(Database, { strict: false });

/** Cuts every connection to the database until these statements have failed because of it. */
async function blink(statement: string): Promise<void> {
  const failed: string[] = [];
  const query = Database.prototype.query;
  jest.spyOn(own(), 'query').mockImplementation(async function (this: Database, asked, values) {
    try {
      return await query.call(this, asked, values);
    } catch (error) {
      failed.push(asked.name);
      throw error;
    }
  });
  await way.cut();
  await eventually(
    () => expect(failed.filter((name) => name === statement).length).toBeGreaterThan(1),
    15_000,
  );
  await way.mend();
}

async function send(content: string): Promise<string> {
  const sessionId = await newSession(gateway);
  const { status } = await gateway.a.post(
    `/sessions/${sessionId}/messages`,
    { content },
    { prefer: 'respond-async' },
  );
  expect(status).toBe(202);
  return sessionId;
}

interface Item {
  role: string;
  content: string;
}
async function answersIn(sessionId: string): Promise<string[]> {
  const { body } = await gateway.a.get<{ messages: Item[] }>(`/sessions/${sessionId}/messages`);
  return body.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
}
async function turnsOf(sessionId: string) {
  return database.query<{ status: string; take_ups: number }>(
    `SELECT status, take_ups FROM turns WHERE session_id = $1`,
    [sessionId],
  );
}
const untilEnded = (sessionId: string) =>
  eventually(
    async () => expect((await turnsOf(sessionId)).map(({ status }) => status)).toEqual(['completed']),
    30_000,
  );

interface Refusal {
  error: { message: string; details: { reason: string } };
}

interface Waiting {
  id: string;
  session_id: string;
}
async function waiting(path: string, sessionId: string): Promise<string> {
  let id = '';
  await eventually(async () => {
    const { body } = await gateway.admin.get<{ items: Waiting[] }>(path);
    const [own] = body.items.filter(({ session_id }) => session_id === sessionId);
    expect(own).toBeDefined();
    id = own?.id ?? '';
  }, 15_000);
  return id;
}
/** Retries until the gateway can check tokens again. */
async function post(path: string, body: object): Promise<void> {
  await eventually(async () => expect((await gateway.admin.post(path, body)).status).toBe(200), 15_000);
}

test('a database that is away for a moment does not end the wait for an approval', async () => {
  const sessionId = await send('/call ledger__note {"key":"approved"}');
  const approval = await waiting('/approvals?status=pending&limit=500', sessionId);
  await blink('tool_approvals.verdict');
  await post(`/approvals/${approval}/decision`, { decision: 'allow' });
  await untilEnded(sessionId);
  expect(ledger.calls.get('approved')).toBe(1);
  expect(await turnsOf(sessionId)).toEqual([{ status: 'completed', take_ups: 0 }]);
});

test("nor the wait for an answer to a tool's question, whose words arrive once the database is back", async () => {
  const form = {
    message: 'When do you travel?',
    requestedSchema: { type: 'object', properties: { date: { type: 'string' } }, required: ['date'] },
  };
  const sessionId = await send(`/call trip__ask ${JSON.stringify(form)}`);
  const question = await waiting('/questions', sessionId);
  await blink('tool_questions.outcome');
  await post(`/questions/${question}/answer`, { action: 'accept', content: { date: 'Monday' } });
  await untilEnded(sessionId);
  expect(await answersIn(sessionId)).toEqual([expect.stringContaining('Monday')]);
  const kept = await database.query('SELECT content FROM tool_questions WHERE id = $1', [question]);
  expect(kept).toEqual([{ content: null }]);
});

/** A session whose turn runs until `release`, with messages that wait for it in this order. */
async function busySession(key: string, contents: readonly string[]) {
  await gateway.b.patch('/config', { 'tools.approval.ask': [] });
  const calling = ledger.hold(key);
  const sessionId = await send(`/call ledger__note {"key":"${key}"}`);
  await calling.made;
  const answers: Promise<Answer<Item & Refusal>>[] = [];
  for (const content of contents) {
    answers.push(gateway.b.post(`/sessions/${sessionId}/messages`, { content }));
    await eventually(async () => expect(await waitingIn(sessionId)).toHaveLength(answers.length), 15_000);
  }
  return { sessionId, answers, release: () => calling.release() };
}
const waitingIn = (sessionId: string) =>
  database.query<{ left: number }>(
    `SELECT extract(epoch FROM wait_until - now())::float8 AS left FROM turns
     WHERE session_id = $1 AND status = 'waiting'`,
    [sessionId],
  );

test('nor the wait for a busy session: each message keeps its place through 4 s, although their last renewal was due', async () => {
  const { sessionId, answers, release } = await busySession('busy', ['first', 'second']);
  const places = gateway.started.app.get(WaitingPlaces, { strict: false });
  await places.onModuleDestroy();
  await database.query(
    `UPDATE turns SET wait_until = now() + make_interval(secs => $2) WHERE session_id = $1 AND status = 'waiting'`,
    [sessionId, (LEASE_SECS * 2) / 3],
  );
  await way.cut();
  await setTimeout(4000);
  await way.mend();
  await eventually(async () => {
    const kept = await waitingIn(sessionId);
    expect(kept.filter(({ left }) => left > LEASE_SECS / 2)).toHaveLength(2);
  });
  places.onApplicationBootstrap();
  release();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  const said = await database.query<Item>(
    `SELECT role, content FROM messages WHERE session_id = $1 AND role = 'user' ORDER BY seq`,
    [sessionId],
  );
  expect(said.map(({ content }) => content).slice(1)).toEqual(['first', 'second']);
});

test('a message that may have begun is not tried again: its caller is told so, and it is answered once', async () => {
  const { sessionId, answers, release } = await busySession('begun', ['begun?']);
  const query = Database.prototype.query;
  let lost = 0;
  jest.spyOn(own(), 'query').mockImplementation(async function (this: Database, asked, values) {
    if (asked.name === 'turns.leave_queue') throw new DatabaseAway('It is away.');
    const rows = await query.call(this, asked, values);
    if (asked.name === 'turns.begin_waiting' && rows.length > 0 && lost++ === 0)
      throw new ConnectionLost('Whether it did is not known.');
    return rows;
  });
  release();
  const [answer] = await Promise.all(answers);
  expect([answer?.status, answer?.body.error.message]).toEqual([503, 'Whether it did is not known.']);
  await eventually(async () => expect(await answersIn(sessionId)).toHaveLength(2), 30_000);
  expect((await turnsOf(sessionId)).map(({ status }) => status)).toEqual(['completed', 'completed']);
});

/** Makes the next message to a session read its history once more, as one that waited for the session's row. */
function readHistoryAgain(fails: () => boolean): void {
  const query = Database.prototype.query;
  jest.spyOn(own(), 'query').mockImplementation(async function (this: Database, asked, values) {
    if (asked.name === 'turns.read_history' && fails()) throw new DatabaseAway('It is away.');
    const rows = await query.call(this, asked, values);
    if (asked.name === 'turns.begin_or_go_on') for (const row of rows) Object.assign(row, { history: [] });
    return rows;
  });
}

test('a turn that has begun reads its history when the database is back', async () => {
  const sessionId = await newSession(gateway);
  const say = () => gateway.b.post<Item & Refusal>(`/sessions/${sessionId}/messages`, { content: 'Hello' });
  expect((await say()).status).toBe(200);
  let failures = 0;
  readHistoryAgain(() => failures++ < 2);
  expect((await say()).status).toBe(200);
  expect(failures).toBe(3);
});

test('and when that takes too long, nobody is told that nothing has happened: it is answered later, once', async () => {
  const sessionId = await newSession(gateway);
  const say = () => gateway.b.post<Item & Refusal>(`/sessions/${sessionId}/messages`, { content: 'Hello' });
  expect((await say()).status).toBe(200);
  readHistoryAgain(() => true);
  const { status, body } = await say();
  expect([status, body.error.details.reason]).toEqual([503, 'turn_interrupted']);
  jest.restoreAllMocks();
  await eventually(async () => expect(await answersIn(sessionId)).toHaveLength(2), 30_000);
  expect((await turnsOf(sessionId)).map(({ status }) => status)).toEqual(['completed', 'completed']);
});

test('what a tool returned while the database was away is stored when it is back, once', async () => {
  await gateway.b.patch('/config', { 'tools.approval.ask': [] });
  const calling = ledger.hold('returned');
  const sessionId = await send('/call ledger__note {"key":"returned"}');
  await calling.made;
  const blinking = blink('turn_steps.add');
  // The connections are cut before the tool answers.
  await eventually(() => expect(own().poolUse.open).toBe(0), 15_000);
  calling.release();
  await blinking;
  await untilEnded(sessionId);
  expect(ledger.calls.get('returned')).toBe(1);
  const steps = await database.query<{ kind: string; told: string }>(
    `SELECT kind, content->'result'->>'content' AS told FROM turn_steps JOIN turns ON turns.id = turn_id
     WHERE session_id = $1 ORDER BY number`,
    [sessionId],
  );
  expect(steps.map(({ kind }) => kind)).toEqual(['asked', 'answered']);
  expect(steps[1]?.told).toBe('noted');
});

test('a turn that cannot be stored goes on when the database is back, and is answered once', async () => {
  const query = Database.prototype.query;
  let failures = 0;
  jest.spyOn(own(), 'query').mockImplementation(async function (this: Database, asked, values) {
    if (asked.name === 'turns.complete' && failures++ === 0) throw new DatabaseAway('It is away.');
    return query.call(this, asked, values);
  });
  const sessionId = await newSession(gateway);
  const headers = { 'idempotency-key': 'stored-later' };
  const ask = () =>
    gateway.b.post<{ error?: { details: { reason: string } }; content: string }>(
      `/sessions/${sessionId}/messages`,
      { content: 'Hello' },
      headers,
    );
  const { status, body } = await ask();
  expect([status, body.error?.details.reason]).toEqual([503, 'turn_handed_over']);
  await untilEnded(sessionId);
  expect(await answersIn(sessionId)).toHaveLength(1);
  expect(await turnsOf(sessionId)).toEqual([{ status: 'completed', take_ups: 1 }]);
  const again = await ask();
  expect([again.status, (await answersIn(sessionId))[0]]).toEqual([200, again.body.content]);
});

test('with agent.resume = false it fails, as before', async () => {
  await gateway.b.patch('/config', { 'agent.resume': false });
  const query = Database.prototype.query;
  jest.spyOn(own(), 'query').mockImplementation(async function (this: Database, asked, values) {
    if (asked.name === 'turns.complete') throw new DatabaseAway('It is away.');
    return query.call(this, asked, values);
  });
  const sessionId = await send('Hello');
  await eventually(
    async () => expect((await turnsOf(sessionId)).map(({ status }) => status)).toEqual(['failed']),
    15_000,
  );
});
