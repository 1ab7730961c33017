import { mintToken } from '../../src/platform/tokens/token-format.js';
import { notingModel } from '../faults/support/noting-model.js';
import { ToolLedger } from '../faults/support/tool-ledger.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { type Answer, HttpCaller } from '../harness/http-caller.js';
import { McpBench, type ServerB } from '../harness/mcp.js';
import { promptly } from '../harness/promptly.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, providerEnv, TurnStream } from '../harness/turn-stream.js';

// Leases expire by themselves here: docs/specification/additions.md, Turns that outlive their replica.
jest.setTimeout(180_000);

const TAKEN_UP_MS = 12_000;
const bench = new ProcessBench();
const token = mintToken();
let database: TestDatabase;
let provider: ScriptedProvider;
let ledger: ToolLedger;
let tools: McpBench;
let env: Record<string, string>;
let standing: GatewayProcess;

beforeAll(async () => {
  [database, provider, ledger] = await Promise.all([
    createTestDatabase(),
    startScriptedProvider(),
    ToolLedger.start(),
  ]);
  tools = await McpBench.make(
    { ledger: { transport: 'http', url: ledger.url }, again: { transport: 'http', url: ledger.url } },
    '[tools]\nrepeatable = ["again__*"]\n',
  );
  env = {
    ...tools.env,
    ...providerEnv(provider),
    DATABASE_URL: database.url,
    GATEWAY_BOOTSTRAP_TOKEN: token,
    GATEWAY_MASTER_KEY: 'a master key that only tests may use',
    GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
  };
  standing = await startReplica();
}, 120_000);
afterAll(async () => {
  await bench.clear();
  await Promise.all([ledger.stop(), tools.clear(), provider.stop()]);
  await database.drop();
});

const at = (replica: GatewayProcess) => new HttpCaller(replica.b, token);

async function startReplica(more: Record<string, string> = {}): Promise<GatewayProcess> {
  const started = await bench.serve({ env: { ...env, ...more } });
  await eventually(async () => {
    const { body } = await at(started).get<{ servers: ServerB[] }>('/mcp');
    expect(body.servers.map(({ status }) => status)).toEqual(['connected', 'connected']);
  }, 30_000);
  return started;
}

async function newSession(): Promise<string> {
  return (await at(standing).post<{ id: string }>('/sessions', {})).body.id;
}

interface Said {
  readonly role: string;
  readonly content: string;
  readonly incomplete?: string;
  readonly tool_calls?: readonly { readonly name: string; readonly output: string }[];
}

async function historyOf(id: string): Promise<readonly Said[]> {
  return (await at(standing).get<{ messages: Said[] }>(`/sessions/${id}/messages`)).body.messages;
}

function send(
  replica: GatewayProcess,
  id: string,
  content: string,
  key?: string,
): Promise<Answer<object> | undefined> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return at(replica)
    .post<object>(`/sessions/${id}/messages`, { content }, headers)
    .catch(() => undefined);
}

async function kill(victim: GatewayProcess): Promise<void> {
  victim.kill('SIGKILL');
  await victim.ended;
}

async function untilAnswered(id: string): Promise<readonly Said[]> {
  await eventually(async () => expect(await historyOf(id)).toHaveLength(2), TAKEN_UP_MS);
  return historyOf(id);
}

test('a replica dies while a tool runs: within 10 s another goes on, does not call the tool again, and tells the model', async () => {
  const victim = await startReplica();
  ledger.unanswered.add('while it runs');
  provider.script(notingModel(() => 0, 0));
  const id = await newSession();
  void send(victim, id, 'while it runs', 'while-it-runs');
  await eventually(() => expect(ledger.calls.get('while it runs')).toBe(1));
  const [, answer] = await promptly(10_000, async () => {
    await kill(victim);
    // The key of the message is in use meanwhile, and then has the answer.
    return untilAnswered(id);
  });
  expect(answer).toMatchObject({ role: 'assistant', content: 'It is noted.' });
  expect(answer?.tool_calls).toMatchObject([
    { name: 'ledger__note', output: expect.stringContaining('Outcome unknown') as string },
  ]);
  expect(ledger.calls.get('while it runs')).toBe(1);
  const again = await send(standing, id, 'while it runs', 'while-it-runs');
  expect([again?.status, again?.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  expect(await historyOf(id)).toHaveLength(2);
});

test('a tool that the operator lists as repeatable is called again', async () => {
  const victim = await startReplica();
  ledger.unanswered.add('twice');
  provider.script(
    callOf('again__note', 'twice'),
    notingModel(() => 0, 0),
  );
  const id = await newSession();
  void send(victim, id, 'twice');
  await eventually(() => expect(ledger.calls.get('twice')).toBe(1));
  await kill(victim);
  ledger.unanswered.delete('twice');
  const [, answer] = await untilAnswered(id);
  expect(ledger.calls.get('twice')).toBe(2);
  expect(answer?.tool_calls).toMatchObject([{ name: 'again__note', output: 'noted' }]);
});

test('a replica dies behind a tool: its result is not asked for again, and viewers elsewhere begin again and see it all', async () => {
  const victim = await startReplica();
  const held = heldAnswer();
  held.say('Half of');
  const whole = heldAnswer();
  provider.script(
    notingModel(() => 0, 0),
    held.script,
    whole.script,
  );
  const id = await newSession();
  const viewer = await TurnStream.open(`${at(standing).base}/sessions/${id}/messages`, token);
  void send(victim, id, 'behind it');
  await viewer.untilSaid('Half of');
  await kill(victim);
  await viewer.until('restarted', 1, TAKEN_UP_MS);
  whole.say('The whole');
  whole.finish();
  await viewer.until('done');
  const names = viewer.frames.map(({ event }) => event);
  expect(names.slice(names.indexOf('restarted'))).toEqual([
    'restarted',
    'tool_call',
    'tool_result',
    'token',
    'done',
  ]);
  expect(viewer.of('done')[0]?.data).toMatchObject({ content: 'The whole' });
  expect(ledger.calls.get('behind it')).toBe(1);
  expect(await historyOf(id)).toMatchObject([{ role: 'user' }, { role: 'assistant', content: 'The whole' }]);
  viewer.close();
});

test('a stop leaves a turn that takes longer to another replica, which goes on at once', async () => {
  const leaving = await startReplica({ GATEWAY__GATEWAY__DRAIN_TIMEOUT_MS: '1500' });
  const held = heldAnswer();
  const whole = heldAnswer();
  provider.script(held.script, whole.script);
  held.say('Half');
  whole.say('The whole');
  const id = (await at(standing).post<{ id: string }>('/sessions', { user_id: 'waiting' })).body.id;
  const sent = send(leaving, id, 'Take your time', 'left');
  await eventually(() => expect(provider.requests).toHaveLength(1));
  await promptly(8000, async () => {
    leaving.kill('SIGTERM');
    const left = await sent;
    expect([left?.status, left?.text.includes('turn_handed_over')]).toEqual([503, true]);
    expect((await leaving.ended).code).toBe(0);
    await eventually(() => expect(provider.requests).toHaveLength(2));
  });
  whole.finish();
  const [, answer] = await untilAnswered(id);
  expect(answer).toMatchObject({ role: 'assistant', content: 'The whole' });
  const again = await send(standing, id, 'Take your time', 'left');
  expect([again?.status, again?.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  // The interrupted call is counted like the other one.
  const [cost] = await database.query<{ broken_off: number; turn: number; used: number }>(
    `SELECT (SELECT sum((spent->'usage'->>'output')::int)::int FROM turn_steps, json_array_elements(content->'spending') AS spent
         WHERE turn_id = turns.id AND kind = 'spent') AS broken_off,
       output_tokens::int AS turn,
       (SELECT sum(output_tokens)::int FROM (SELECT user_id, output_tokens FROM usage_entries
         UNION ALL SELECT user_id, output_tokens FROM usage_days) AS used WHERE user_id = 'waiting') AS used
     FROM turns WHERE session_id = $1`,
    [id],
  );
  expect(cost?.broken_off).toBeGreaterThan(0);
  expect(cost?.turn).toBeGreaterThan(cost?.broken_off ?? 0);
  expect(cost?.used).toBe(cost?.turn);
});

test('a turn that was tried turns.max_attempts times without a step, for more than a minute, ends as interrupted', async () => {
  const victim = await startReplica();
  provider.script(() => undefined);
  const id = await newSession();
  void send(victim, id, 'poison');
  await eventually(() => expect(provider.requests).toHaveLength(1));
  await database.query(
    `INSERT INTO turn_steps (turn_id, number, kind, content, created_at)
     SELECT id, 1, 'asked', $2, now() - interval '1 day' FROM turns WHERE session_id = $1`,
    [id, JSON.stringify({ text: '', calls: [], model: 'm', spending: SPENT })],
  );
  const spentBefore = await spentToday();
  // As if it had killed two replicas before this one.
  await database.query(
    `UPDATE turns SET attempts = 3, started_at = now() - interval '2 minutes' WHERE session_id = $1`,
    [id],
  );
  await kill(victim);
  const [, answer] = await untilAnswered(id);
  expect(answer).toMatchObject({ role: 'assistant', incomplete: 'interrupted' });
  expect(provider.requests).toHaveLength(1);
  // What it used counts towards the limits of its session and its token.
  const [session] = await database.query<{ spent: number }>(
    'SELECT spent_tokens::int AS spent FROM sessions WHERE id = $1',
    [id],
  );
  expect([session?.spent, (await spentToday()) - spentBefore]).toEqual([120, 120]);
});

const SPENT = [{ provider: 'default', model: 'm', usage: { input: 100, output: 20 }, costUsd: 0.5 }];

/** By all tokens. */
async function spentToday(): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    'SELECT coalesce(sum(input_tokens + output_tokens), 0)::int AS n FROM token_spending',
  );
  return row?.n ?? 0;
}

/** The model asks for one tool. */
function callOf(name: string, key: string): Parameters<ScriptedProvider['script']>[0] {
  return async (response, request) => {
    const renamed = new Proxy(response, {
      get: (target, property) => {
        const value = Reflect.get(target, property) as unknown;
        if (property === 'write')
          return (text: string) =>
            target.write(text.replaceAll('ledger__note', name).replaceAll('{key}', key));
        return typeof value === 'function' ? (value as () => void).bind(target) : value;
      },
    });
    await notingModel(() => 0, 0)(renamed, request);
  };
}
