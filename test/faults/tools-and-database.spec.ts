import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench } from '../harness/mcp.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { newSession, providerEnv } from '../harness/turn-stream.js';
import { notingModel } from './support/noting-model.js';
import { ToolLedger } from './support/tool-ledger.js';

jest.setTimeout(120_000);

/** Longer than a turn waits for a source of tools that reports nothing. */
const HELD_MS = 7000;
/** The model hangs when the gateway stops. */
const HURRIED = { GATEWAY__GATEWAY__DRAIN_TIMEOUT_MS: '1000' };

let database: TestDatabase;
let provider: ScriptedProvider;
let tools: ToolLedger;
let servers: McpBench;
let gateway: TestGateway | undefined;
let operator: Client;

beforeAll(async () => {
  [database, provider, tools] = await Promise.all([
    createTestDatabase(),
    startScriptedProvider(),
    ToolLedger.start(),
  ]);
  servers = await McpBench.make({ ledger: { transport: 'http', url: tools.url } });
});
beforeEach(async () => {
  operator = new Client({ connectionString: database.directUrl });
  await operator.connect();
});
afterEach(async () => {
  await operator.end();
  await gateway?.stop();
  gateway = undefined;
});
afterAll(async () => {
  await Promise.all([provider.stop(), tools.stop(), servers.clear()]);
  await database.drop();
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<TestGateway> {
  gateway = await startTestGateway({
    database,
    env: { ...providerEnv(provider), ...servers.env, ...HURRIED, ...env },
  });
  return gateway;
}

interface Connections {
  readonly servers: readonly { readonly status: string; readonly error?: string }[];
}
const ledgerOf = async (one: TestGateway) => (await one.b.get<Connections>('/mcp')).body.servers[0];
const isConnected = async (one: TestGateway) =>
  expect(await ledgerOf(one)).toMatchObject({ status: 'connected' });

/** While this lasts, nobody can read which tools are approved. The rest of the database works. */
const holdKnownTools = () => operator.query('BEGIN; LOCK TABLE mcp_tools');

const BLOCKED = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pg_backend_pid() <> pid
  AND cardinality(pg_blocking_pids(pid)) > 0`;
const untilBlocked = () =>
  eventually(async () => expect(await database.query(BLOCKED)).not.toEqual([]), 10_000);

const WAYS = [
  ['answers nothing', false, {}],
  ['fails again and again', true, { GATEWAY__DATABASE__STATEMENT_TIMEOUT_MS: '500' }],
] as const;

describe.each(WAYS)('while the database %s about the tools that are approved', (way, fails, env) => {
  test('messages that any replica may answer are not answered without them', async () => {
    const first = await start(env);
    await eventually(() => isConnected(first));
    const session = await newSession(first);
    provider.script(() => undefined);
    const [handedOver, accepted] = [`handed over: ${way}`, `accepted: ${way}`];
    const cut = first.b.post(`/sessions/${session}/messages`, { content: handedOver }).catch(() => undefined);
    await eventually(() => expect(provider.requests.length).toBeGreaterThan(0));
    const later = { prefer: 'respond-async' };
    expect((await first.b.post(`/sessions/${session}/messages`, { content: accepted }, later)).status).toBe(
      202,
    );
    await first.stop();
    await cut;
    provider.script(notingModel(Math.random, 10));

    await holdKnownTools();
    const next = await start(env);
    await sleep(HELD_MS);
    expect([...tools.calls.keys()]).not.toContain(accepted);
    await operator.query('ROLLBACK');
    await eventually(async () => {
      const { body } = await next.b.get<{ messages: { content: string }[] }>(`/sessions/${session}/messages`);
      expect(body.messages).toHaveLength(4);
    }, 20_000);
    expect([tools.calls.get(handedOver), tools.calls.get(accepted)]).toEqual([1, 1]);
  });

  test('a message that comes while the connection is made anew waits for them', async () => {
    const one = await start(env);
    await eventually(() => isConnected(one));
    provider.script(notingModel(Math.random, 10));
    const session = await newSession(one);
    await holdKnownTools();
    expect((await one.b.post('/mcp/ledger/reconnect')).status).toBe(200);
    // Until the server has listed its tools, messages are answered without them.
    await untilBlocked();
    const said = `made anew: ${way}`;
    const answer = one.b.post(`/sessions/${session}/messages`, { content: said });
    await sleep(1500);
    expect(provider.requests).toEqual([]);
    const error = expect.stringContaining('cannot be compared with those that are approved') as string;
    expect(await ledgerOf(one)).toMatchObject({ status: 'reconnecting', ...(fails && { error }) });
    await operator.query('ROLLBACK');
    expect((await answer).status).toBe(200);
    expect(tools.calls.get(said)).toBe(1);
    await isConnected(one);
  });
});

test('a message whose turn is about to begin when its replica stops is not answered without tools', async () => {
  const one = await start({ GATEWAY__GATEWAY__DRAIN_TIMEOUT_MS: '20000' });
  await eventually(() => isConnected(one));
  provider.script(notingModel(Math.random, 10));
  const session = await newSession(one);
  await operator.query(
    `INSERT INTO turns (id, session_id, user_message_id, status, wait_until)
     VALUES ('turn_ahead', $1, 'msg_ahead', 'waiting', now() + interval '1500 milliseconds')`,
    [session],
  );
  const said = 'about to begin';
  const later = { prefer: 'respond-async' };
  expect((await one.b.post(`/sessions/${session}/messages`, { content: said }, later)).status).toBe(202);
  await operator.query('BEGIN');
  await operator.query('SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE', [session]);
  await untilBlocked();
  const stopped = one.stop();
  gateway = undefined;
  await sleep(1000);
  await operator.query('ROLLBACK');
  await stopped;
  expect(tools.calls.get(said)).toBe(1);
});
