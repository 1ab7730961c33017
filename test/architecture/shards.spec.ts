import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { Database } from '../../src/platform/database/database.js';
import type { AnyStatement } from '../../src/platform/database/sql.js';
import { text } from '../../src/platform/database/sql-types.js';
import { allStatements, statement } from '../../src/platform/database/statement.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { TurnStream } from '../harness/turn-stream.js';
import { loadStatements } from './load-statements.js';
import { type Reach, reachOf, SHARD_KEYS, spreadTables, uniqueKeys } from './shards.js';

/** Statements of a conversation that go to several shards; the reasons are below. */
const HOT_ON_MANY: readonly string[] = ['turn_steps.of_messages', 'turns.standing'];

const BY_ID = 'an operator or a viewer has the id of a turn, a message, a call or an answer alone';
const BY_REPLICA = 'a replica looks for what is due, or lost, in all sessions';
const BY_TOKEN = 'what an API token has running is counted wherever it runs';
const OF_ALL = 'a list, a search or a sum over all sessions';
const BY_TURN = 'its rows are spread by turn, and name no session yet';
/** Statements that go to several shards, by name or by the area before the dot, and why each may. */
const ON_MANY: Readonly<Record<string, string>> = {
  privacy: 'erasure and export go through everything that one user has',
  ...{ session_search: OF_ALL, sessions: OF_ALL, turn_series: OF_ALL, 'agents.activity': OF_ALL },
  ...{ 'a2a.tasks_first': OF_ALL, 'a2a.tasks_next': OF_ALL, 'a2a.task_changed': BY_ID },
  ...{ turn_directory: BY_ID, tool_approvals: BY_ID, tool_questions: BY_ID },
  ...{ 'messages.sent': BY_ID, 'turns.record_with_usage': BY_ID, 'turns.result_of_message': BY_ID },
  ...{ 'turns.cancel_turn': BY_ID, 'remote_turns.read': BY_ID, 'live.answers_since': OF_ALL },
  ...{ 'task_hooks.lock_turn': BY_ID, 'task_hooks.remove_told': BY_ID, 'channel_webhook.answer': BY_ID },
  ...{ 'accepted_turns.cancel_unwanted': BY_ID },
  ...{ 'accepted_turns.cancel_of_ended': BY_ID, responses: BY_TURN },
  ...{
    due_work: BY_REPLICA,
    lost_turns: BY_REPLICA,
    'accepted_turns.due': BY_REPLICA,
    'accepted_turns.any': BY_REPLICA,
  },
  ...{ 'turns.interrupt_lost': BY_REPLICA, 'turns.keep_places': BY_REPLICA, 'turns.signals': BY_REPLICA },
  ...{ 'turns.leave_queues_expired': BY_REPLICA, channel_approvals: BY_REPLICA },
  ...{ 'remote_turns.latest': BY_REPLICA, 'remote_turns.begun_after': BY_REPLICA },
  ...{ 'remote_turns.forget_frames': BY_REPLICA, 'remote_turns.forget_audiences': BY_REPLICA },
  ...{ content_retention: BY_REPLICA, 'channel_inbox.prune_conversations': BY_REPLICA },
  ...{ 'hook_retention.of_ended_tasks': BY_REPLICA, 'health_parts.turns': OF_ALL },
  ...{ 'turn_files.prune': BY_TURN, 'turn_steps.of_messages': BY_TURN },
  ...{
    limits: BY_TOKEN,
    'turns.standing': BY_TOKEN,
    'turns.token_standing': BY_TOKEN,
    'shares.waiting': BY_TOKEN,
  },
  ...{ 'turns.begin_or_go_on_limited': BY_TOKEN, 'turns.begin_waiting_limited': BY_TOKEN },
  ...{ 'turns.leave_queues_of_token': BY_TOKEN, 'accepted_turns.cancel_all_of_token': BY_TOKEN },
  'turns.wake_parked_of_token': BY_TOKEN,
};

/** Unique keys that lack the shard column of their table, so that no shard could enforce them alone. */
const KEYS_WITHOUT_SHARD: readonly string[] = [
  'attachments (id)',
  'messages (id)',
  'tool_approvals (call_id, turn_id)',
  'tool_approvals (id)',
  'tool_questions (id)',
  'turns (id)',
];

const TABLES = new RegExp(`\\b(${Object.keys(SHARD_KEYS).join('|')})\\b`);

let database: TestDatabase;
let client: Client;
const reaches = new Map<string, Reach>();

beforeAll(async () => {
  await loadStatements();
  database = await createTestDatabase();
  client = new Client({ connectionString: database.directUrl });
  await client.connect();
  await spreadTables(client);
  for (const one of allStatements()) {
    if (TABLES.test(one.text)) reaches.set(one.name, await reachOf(client, one));
  }
}, 120_000);
afterAll(async () => {
  await client.end();
  await database.drop();
});

test('the frequent statements of sessions and turns name the session, so that one shard answers them', async () => {
  const hot = await statementsOfAConversation();
  expect([...hot]).toEqual(
    expect.arrayContaining([
      'sessions.find',
      'turns.begin_or_go_on',
      'turns.complete',
      'turns.begin_waiting',
    ]),
  );
  expect([...hot]).toEqual(expect.arrayContaining(['turn_steps.add', 'messages.newest', 'messages.before']));
  // On a slow machine a replica's periodic work may run in between; no message causes it.
  const asked = [...hot].filter((name) => ON_MANY[reasonOf(name) ?? ''] !== BY_REPLICA);
  expect(asked.filter((name) => isOnMany(reaches.get(name)!)).sort()).toEqual(HOT_ON_MANY);
});

test('each other statement that goes to several shards has a reason', () => {
  const found = [...reaches].filter(([, reach]) => isOnMany(reach)).map(([name]) => name);
  expect(found.filter((name) => reasonOf(name) === undefined)).toEqual([]);
  const needed = new Set(found.map((name) => reasonOf(name)));
  expect(Object.keys(ON_MANY).filter((key) => !needed.has(key))).toEqual([]);
});

test('which unique keys lack the column of the shard is known', async () => {
  const lacking = (await uniqueKeys(client))
    .filter(({ table, columns }) => !columns.includes(SHARD_KEYS[table]!))
    .map(({ table, columns }) => `${table} (${columns.join(', ')})`);
  expect(lacking).toEqual(KEYS_WITHOUT_SHARD);
});

test('the planner tells a statement of one session from one of all', async () => {
  const told = async (sql: string) =>
    isOnMany(
      await reachOf(
        client,
        statement({ name: `shards.${randomUUID()}`, params: { session: text }, row: {}, sql }),
      ),
    );
  expect(await told('DELETE FROM messages WHERE session_id = :session')).toBe(false);
  expect(await told('DELETE FROM messages WHERE turn_id = :session')).toBe(true);
  expect(
    await told(
      'SELECT FROM messages JOIN sessions ON sessions.id = session_id WHERE sessions.id = (SELECT :session)',
    ),
  ).toBe(false);
});

function isOnMany({ many, conflicts }: Reach): boolean {
  return many.length > 0 || conflicts;
}

/** The key of `ON_MANY` that a statement falls under. */
function reasonOf(name: string): string | undefined {
  const [area = '', verb = ''] = name.split('.');
  return [`${area}.${verb}`, area].find((key) => Object.hasOwn(ON_MANY, key));
}

/** The names of the statements that were given the id of a session, turn or message. */
async function statementsOfAConversation(): Promise<Set<string>> {
  const gateway = await startTestGateway();
  const names = new Set<string>();
  const prepared = jest.spyOn(Database.prototype as unknown as Prepares, 'prepared');
  try {
    await converse(gateway);
    for (const [{ name }, given] of prepared.mock.calls) {
      if (/\b(sess|turn|msg)_[0-9a-z]{26}/.test(JSON.stringify(given ?? null)) && reaches.has(name))
        names.add(name);
    }
  } finally {
    prepared.mockRestore();
    await gateway.stop();
  }
  return names;
}

interface Prepares {
  prepared(statement: AnyStatement, given: unknown): unknown;
}

async function converse({ a, b, token }: TestGateway): Promise<void> {
  const { body } = await a.post<{ session_id: string }>('/sessions', { user_id: 'ada' });
  const path = `/sessions/${body.session_id}`;
  await a.get(path);
  const say = (content: string, headers = {}) => a.post(`${path}/messages`, { content }, headers);
  await say('Hello');
  await say('/call memory_store {"content": "The office opens at nine"}');
  const stream = await TurnStream.open(`${b.base}${path}/messages`, token, { body: { content: 'Again' } });
  await eventually(() => expect(stream.ended).toBe(true));
  // The second message waits behind the first; the third is accepted with 202.
  await Promise.all([say('One'), say('Two'), say('Three', { prefer: 'respond-async' })]);
  const history = () => a.get<{ messages: { message_id: string }[] }>(`${path}/messages?limit=100`);
  await eventually(async () => expect((await history()).body.messages).toHaveLength(12));
  const { messages } = (await history()).body;
  const before = messages.at(-1)!.message_id;
  expect((await a.get(`${path}/messages?limit=2&before=${before}`)).status).toBe(200);
  await a.delete(path);
}
