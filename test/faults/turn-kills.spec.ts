import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { figure } from '../harness/figure.js';
import { type GatewayProcess, ProcessBench, until } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { McpBench, type ServerB } from '../harness/mcp.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';
import { underLoad } from '../harness/under-load.js';
import { randomFrom } from './support/chance.js';
import { notingModel } from './support/noting-model.js';
import { ToolLedger } from './support/tool-ledger.js';

/**
 * The long form, TURN_KILLS=50, kills every KILL_EVERY_MS (2000) at least, and waits for leases to expire. KILL_SEED
 * repeats a run.
 */
const KILLS = Number(process.env.TURN_KILLS ?? 2);
const isLong = process.env.TURN_KILLS !== undefined;
const KILL_EVERY_MS = isLong ? Number(process.env.KILL_EVERY_MS ?? 2000) : 0;
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
const CALLERS = isLong ? 16 : 8;
/** Sessions that all callers share; in the short form callers that wait for their answers have their own. */
const SHARED = isLong ? 8 : 3;
/** Until a turn has a definite state, whatever happened to its replica. */
const DEFINITE_MS = 35_000;

jest.setTimeout(120_000 + KILLS * 30_000);

interface Item {
  message_id: string;
  role: string;
  content: string;
}

const bench = new ProcessBench();
const random = randomFrom(SEED);
let database: TestDatabase;
let provider: ScriptedProvider;
let ledger: ToolLedger;
let tools: McpBench;
const token = mintToken();
let env: Record<string, string>;
let replicas: GatewayProcess[];

beforeAll(async () => {
  [database, provider, ledger] = await Promise.all([
    createTestDatabase(),
    startScriptedProvider(),
    ToolLedger.start(),
  ]);
  tools = await McpBench.make({ ledger: { transport: 'http', url: ledger.url } });
  env = {
    ...tools.env,
    ...providerEnv(provider),
    DATABASE_URL: database.url,
    GATEWAY_BOOTSTRAP_TOKEN: token,
    GATEWAY_MASTER_KEY: 'a master key that only tests may use',
    GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
    GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '100000',
    GATEWAY__RATE_LIMITS__SESSIONS_READ: '100000',
    GATEWAY__LOGGING__STORE_LEVEL: 'warn',
  };
  replicas = await Promise.all([1, 2, 3].map(startReplica));
}, 120_000);
afterAll(async () => {
  await bench.clear();
  await ledger.stop();
  await tools.clear();
  await provider.stop();
  await database.drop();
});

const at = (replica: GatewayProcess) => new HttpCaller(replica.b, token);
const replica = (n: number) => replicas[n % replicas.length] as GatewayProcess;

/** A replica that has its tools. */
async function startReplica(): Promise<GatewayProcess> {
  const started = await bench.serve({ env });
  await eventually(async () => {
    const { body } = await at(started).get<{ servers: ServerB[] }>('/mcp');
    expect(body.servers.map(({ status }) => status)).toEqual(['connected']);
  }, 30_000);
  return started;
}

async function newSession(): Promise<string> {
  return (await at(replica(0)).post<{ id: string }>('/sessions', {})).body.id;
}

async function history(id: string): Promise<Item[]> {
  return (await at(replica(0)).get<{ messages: Item[] }>(`/sessions/${id}/messages?limit=500`)).body.messages;
}

const alternating = (count: number) =>
  Array.from({ length: count }, (_, n) => (n % 2 === 0 ? 'user' : 'assistant'));

test('at the default limit, what is too much for a busy session is refused at once, and nothing of it is stored', async () => {
  const held = heldAnswer();
  provider.script(held.script, notingModel(random, 5));
  const id = await newSession();
  const send = (n: number) =>
    at(replica(n)).post<object>(`/sessions/${id}/messages`, { content: `Number ${n}` });
  const first = send(100);
  await eventually(() => expect(provider.requests).toHaveLength(1));
  const settled: number[] = [];
  const rest = Array.from({ length: 20 }, (_, n) =>
    send(n).then((answer) => {
      settled.push(answer.status);
      return { n, ...answer };
    }),
  );
  // The turn is still held, so these callers were answered without waiting.
  await eventually(() => expect(settled).toHaveLength(12), 20_000);
  expect(new Set(settled)).toEqual(new Set([409]));
  held.finish();
  const answers = [await first, ...(await Promise.all(rest))];
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(9);
  const refused = (await Promise.all(rest)).filter(({ status }) => status === 409);
  for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  const kept = await database.query<{ content: string }>(
    'SELECT content FROM messages WHERE session_id = $1',
    [id],
  );
  const texts = new Set(kept.map(({ content }) => content));
  expect(refused.filter(({ n }) => texts.has(`Number ${n}`))).toEqual([]);
  const turns = await database.query('SELECT id FROM turns WHERE session_id = $1', [id]);
  expect([turns.length, kept.length]).toEqual([9, 18]);
});

test('50 messages at once to one session over three processes: all answered, one after the other', async () => {
  await at(replica(0)).patch('/config', { 'agent.max_waiting': 100 });
  for (const one of replicas)
    await eventually(async () => {
      const { body } = await at(one).get<{ agent: { max_waiting: number } }>('/config');
      expect(body.agent.max_waiting).toBe(100);
    });
  provider.script(notingModel(random, 5));
  const id = await newSession();
  const contents = Array.from({ length: 50 }, (_, n) => `Parallel ${n}`);
  const answers = await Promise.all(
    contents.map((content, n) => at(replica(n)).post(`/sessions/${id}/messages`, { content })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const said = await history(id);
  expect(said.map(({ role }) => role)).toEqual(alternating(100));
  const users = said.filter(({ role }) => role === 'user').map(({ content }) => content);
  expect([...users].sort()).toEqual([...contents].sort());
  const turns = await database.query<{ user_message_id: string; gap: number; owner: string }>(
    `SELECT user_message_id, owner, extract(epoch FROM started_at - lag(ended_at) OVER (ORDER BY started_at))::float8 AS gap
     FROM turns WHERE session_id = $1 ORDER BY started_at`,
    [id],
  );
  // In the order of the history, none before the end of the one before it, and not all by the same process.
  expect(turns.map(({ user_message_id }) => user_message_id)).toEqual(
    said.filter(({ role }) => role === 'user').map(({ message_id }) => message_id),
  );
  expect(turns.slice(1).filter(({ gap }) => gap < 0)).toEqual([]);
  expect(new Set(turns.map(({ owner }) => owner)).size).toBeGreaterThan(1);
  for (const content of contents) expect([content, ledger.calls.get(content)]).toEqual([content, 1]);
  figure(['one-turn-at-a-time'], { messages_at_once: 50, turns: turns.length, processes: replicas.length });
});

/** A message that the gateway has acknowledged. */
interface Acknowledged {
  readonly session: string;
  readonly key: string;
  readonly messageId: string;
}

const acknowledged: Acknowledged[] = [];
const outcomes = new Map<string, number>();

/**
 * A careful client: after a cut, or when told to come back, it repeats the request with the same key at any process.
 */
async function say(session: string, key: string, isAsync: boolean): Promise<void> {
  const headers = { 'idempotency-key': key, ...(isAsync ? { prefer: 'respond-async' } : {}) };
  const deadline = performance.now() + (isLong ? 300_000 : 60_000);
  for (;;) {
    const to = at(replica(Math.floor(Math.random() * 3)));
    const answer = await to
      .post<{ message_id: string }>(`/sessions/${session}/messages`, { content: key }, headers)
      .catch(() => undefined);
    if (answer !== undefined && !answer.headers.has('retry-after')) {
      const outcome = `${answer.status}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (answer.status < 300) acknowledged.push({ session, key, messageId: answer.body.message_id });
      else expect([key, answer.text]).toEqual([key, expect.stringContaining('is not run again')]);
      return;
    }
    if (performance.now() > deadline) throw new Error(`${key} has no answer: ${answer?.text}`);
    await sleep(answer === undefined ? 20 : 200);
  }
}

/** Kills one replica at a random moment, and starts another in its place. */
async function killOne(): Promise<void> {
  await sleep(50 + random() * 600);
  const startedAt = performance.now();
  const place = Math.floor(random() * replicas.length);
  const victim = replica(place);
  victim.kill('SIGKILL');
  await victim.ended;
  if (!isLong) {
    await database.query(
      `UPDATE sessions SET turn_lease_until = now() - interval '1 second' WHERE turn_owner LIKE '%:' || $1 || ':%'`,
      [String(victim.pid)],
    );
  }
  killedAt.set(victim.pid, new Date());
  await noteOrphans(victim.pid);
  replicas[place] = await startReplica();
  await sleep(Math.max(0, KILL_EVERY_MS - (performance.now() - startedAt)));
}

/** Turns that ran when their replica was killed, and when that was by the database's clock. */
const orphans: { turn: string; at: Date }[] = [];

async function noteOrphans(pid: number): Promise<void> {
  const rows = await database.query<{ turn: string; at: Date }>(
    `SELECT id AS turn, clock_timestamp() AS at FROM turns WHERE status = 'running' AND owner LIKE '%:' || $1 || ':%'`,
    [String(pid)],
  );
  orphans.push(...rows);
}

/** Seconds from each kill to the next step or the end of each turn that it orphaned. */
async function pausesAfterKills(): Promise<number[]> {
  const rows = await database.query<{ pause: number | null }>(
    `SELECT extract(epoch FROM least(turns.ended_at,
        (SELECT min(created_at) FROM turn_steps WHERE turn_id = turns.id AND created_at > orphan.at)) - orphan.at)::float8 AS pause
     FROM unnest($1::text[], $2::timestamptz[]) AS orphan (turn, at) JOIN turns ON turns.id = orphan.turn`,
    [orphans.map(({ turn }) => turn), orphans.map(({ at }) => at.toISOString())],
  );
  return rows.flatMap(({ pause }) => (pause === null ? [] : [pause])).sort((a, b) => a - b);
}

const killedAt = new Map<number, Date>();

async function isSettled(): Promise<boolean> {
  const [row] = await database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM turns WHERE status IN ('running', 'waiting')`,
  );
  return row?.n === 0;
}

/** Seconds from a replica's end until the last of its turns was closed. */
async function secondsUntilClosed(): Promise<number> {
  const lost = await database.query<{ owner: string; ended_at: Date }>(
    `SELECT owner, ended_at FROM turns WHERE status = 'interrupted'`,
  );
  const waits = lost.map(({ owner, ended_at }) => {
    const killed = killedAt.get(Number(owner.split(':').at(-2)));
    return killed === undefined ? 0 : (ended_at.getTime() - killed.getTime()) / 1000;
  });
  return Math.max(0, ...waits);
}

test(`kill -9 at ${KILLS} chance moments under load (KILL_SEED=${SEED}): nothing acknowledged is lost, nothing is done twice`, async () => {
  provider.script(notingModel(random, 120));
  const sessions = await Promise.all(Array.from({ length: SHARED + CALLERS }, newSession));
  const talk = (isOver: () => boolean) => async (_: unknown, caller: number) => {
    const isAsync = caller % 2 === 0;
    for (let n = 0; !isOver(); n += 1) {
      const place = isAsync || isLong ? (caller + n) % SHARED : SHARED + caller;
      await say(sessions[place] as string, `caller-${caller}-says-${n}`, isAsync);
      // A steady load: processes must be able to start meanwhile, and queues must not grow without end.
      await sleep(isAsync ? (isLong ? 1000 : 500) : 50);
    }
  };
  await underLoad(
    (isOver) => Array.from({ length: CALLERS }, talk(isOver)),
    async () => {
      for (let kill = 0; kill < KILLS; kill += 1) await killOne();
    },
  );
  // Accepted messages may have to wait in a queue.
  await until(isSettled, DEFINITE_MS + (isLong ? 120_000 : 0));

  const histories = new Map(
    await Promise.all(sessions.map(async (id) => [id, await wholeHistory(id)] as const)),
  );
  for (const said of histories.values()) {
    expect(said.map(({ role }) => role)).toEqual(alternating(said.length));
    const users = said.filter(({ role }) => role === 'user').map(({ content }) => content);
    expect(new Set(users).size).toBe(users.length);
  }
  const lost = acknowledged.filter(
    ({ session, messageId }) => !histories.get(session)?.some(({ message_id }) => message_id === messageId),
  );
  expect(lost).toEqual([]);
  expect([...ledger.calls].filter(([, times]) => times > 1)).toEqual([]);
  const unnoted = await database.query<{ content: string }>(
    `SELECT said.content, take_ups, (SELECT json_agg(content ORDER BY number) FROM turn_steps WHERE turn_id = turns.id) AS steps
     FROM turns JOIN messages said ON said.id = turns.user_message_id
     WHERE turns.status = 'completed' AND said.content LIKE 'caller-%' AND NOT said.content = ANY ($1)
       AND NOT EXISTS (SELECT 1 FROM turn_steps WHERE turn_id = turns.id AND content::text LIKE '%Outcome unknown%')`,
    [[...ledger.calls.keys()]],
  );
  expect(unnoted).toEqual([]);
  const statuses = await database.query<{ status: string; n: number }>(
    `SELECT turns.status, count(*)::int AS n FROM turns JOIN messages ON messages.id = user_message_id
     WHERE messages.content LIKE 'caller-%' GROUP BY 1`,
  );
  // Every turn continues on another replica.
  expect(statuses.map(({ status }) => status)).toEqual(['completed']);
  const slowest = await secondsUntilClosed();
  expect(slowest).toBeLessThan(DEFINITE_MS / 1000);
  expect(acknowledged.length).toBeGreaterThan(KILLS);
  const pauses = await pausesAfterKills();
  figure(['nothing-lost', 'one-turn-at-a-time', 'once-per-key'], {
    seed: SEED,
    kills: KILLS,
    acknowledged: acknowledged.length,
    answers: Object.fromEntries(outcomes),
    turns: Object.fromEntries(statuses.map(({ status, n }) => [status, n])),
    longest_limbo_s: slowest,
    orphaned_turns: pauses.length,
    kill_to_next_step_p95_s: pauses[Math.floor(pauses.length * 0.95)] ?? 0,
    called_twice: [...ledger.calls].filter(([, times]) => times > 1).length,
  });
});

async function wholeHistory(id: string): Promise<Item[]> {
  const all: Item[] = [];
  for (let before = ''; ; ) {
    const { body } = await at(replica(0)).get<{ messages: Item[]; has_more: boolean }>(
      `/sessions/${id}/messages?limit=500${before}`,
    );
    all.unshift(...body.messages);
    if (!body.has_more) return all;
    before = `&before=${body.messages[0]?.message_id}`;
  }
}
