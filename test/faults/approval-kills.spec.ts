import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { figure } from '../harness/figure.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { McpBench, type ServerB } from '../harness/mcp.js';
import { randomFrom } from './support/chance.js';
import { ToolLedger } from './support/tool-ledger.js';

/** The long form: APPROVALS=1000. KILL_SEED repeats a run. */
const APPROVALS = Number(process.env.APPROVALS ?? 60);
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
/** So many calls wait at once. */
const WAVE = 20;
/** A replica is killed in every wave so many apart. */
const KILL_EVERY = 2;
const DEFINITE_MS = 60_000;

jest.setTimeout(120_000 + APPROVALS * 1000);

interface Approval {
  readonly id: string;
  readonly status: string;
  readonly session_id: string;
  readonly arguments: { readonly key: string };
}

/** What somebody said to a call, and what came of it; `lost` when the replica was killed before it answered. */
interface Click {
  readonly decision: 'allow' | 'deny';
  readonly at: number;
  readonly outcome: string;
}

const bench = new ProcessBench();
const random = randomFrom(SEED);
const token = mintToken();
let database: TestDatabase;
let ledger: ToolLedger;
let tools: McpBench;
let env: Record<string, string>;
let replicas: GatewayProcess[];

beforeAll(async () => {
  [database, ledger] = await Promise.all([createTestDatabase(), ToolLedger.start()]);
  tools = await McpBench.make(
    { ledger: { transport: 'http', url: ledger.url, isolation: 'shared' } },
    '[agent]\ntool_approval_timeout_ms = 600000\n[tools.approval]\nask = ["ledger__note"]\n',
  );
  env = {
    ...tools.env,
    DATABASE_URL: database.url,
    GATEWAY_BOOTSTRAP_TOKEN: token,
    GATEWAY_MASTER_KEY: 'a master key that only tests may use',
    GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
    GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '100000',
    GATEWAY__RATE_LIMITS__SESSIONS_READ: '100000',
    GATEWAY__RATE_LIMITS__OTHER: '100000',
    GATEWAY__RATE_LIMITS__CONFIG_WRITE: '100000',
    GATEWAY__LOGGING__STORE_LEVEL: 'warn',
  };
  replicas = await Promise.all([1, 2, 3].map(startReplica));
}, 120_000);
afterAll(async () => {
  await bench.clear();
  await ledger.stop();
  await tools.clear();
  await database.drop();
});

const at = (replica: GatewayProcess) => new HttpCaller(replica.b, token);
const admin = (replica: GatewayProcess) => new HttpCaller(replica.b.replace('/api/v1', '/admin/v1'), token);
const replica = (n: number) => replicas[n % replicas.length] as GatewayProcess;

async function startReplica(): Promise<GatewayProcess> {
  const started = await bench.serve({ env });
  await eventually(async () => {
    const { body } = await at(started).get<{ servers: ServerB[] }>('/mcp');
    expect(body.servers.map(({ status }) => status)).toEqual(['connected']);
  }, 60_000);
  return started;
}

/** Sessions whose messages have made a call that waits, each with a key of its own. */
async function wave(from: number, count: number): Promise<Approval[]> {
  const keys = Array.from({ length: count }, (_, n) => `call-${from + n}`);
  await Promise.all(
    keys.map(async (key, n) => {
      const { body } = await at(replica(n)).post<{ id: string }>('/sessions', {});
      const content = `/call ledger__note ${JSON.stringify({ key })}`;
      const sent = await at(replica(n)).post(
        `/sessions/${body.id}/messages`,
        { content },
        { prefer: 'respond-async' },
      );
      expect(sent.status).toBe(202);
    }),
  );
  let items: Approval[] = [];
  await eventually(async () => {
    const { body } = await admin(replica(0)).get<{ items: Approval[] }>(
      '/approvals?status=pending&limit=500',
    );
    items = body.items.filter((one) => keys.includes(one.arguments.key));
    expect(items).toHaveLength(count);
  }, DEFINITE_MS);
  return items;
}

async function click(on: GatewayProcess, id: string, decision: Click['decision']): Promise<Click> {
  const startedAt = performance.now();
  const answer = await admin(on)
    .post(`/approvals/${id}/decision`, { decision })
    .catch(() => undefined);
  const outcome =
    answer === undefined
      ? 'lost'
      : ({ 200: 'decided', 409: 'too late' }[answer.status] ?? String(answer.status));
  return { decision, at: startedAt, outcome };
}

/** Three people decide about each at once, each on a replica of their own, and not all the same. */
function decide(approval: Approval): Promise<Click[]> {
  const first = random() < 0.7 ? 'allow' : 'deny';
  const decisions = [first, first, random() < 0.5 ? 'allow' : 'deny'] as const;
  return Promise.all(
    decisions.map(async (decision, n) => {
      await sleep(random() * 20);
      return click(replicas[n] as GatewayProcess, approval.id, decision);
    }),
  );
}

async function killOne(): Promise<void> {
  const place = Math.floor(random() * replicas.length);
  await sleep(random() * 40);
  const victim = replicas[place] as GatewayProcess;
  victim.kill('SIGKILL');
  await victim.ended;
  replicas[place] = await startReplica();
}

test(`${APPROVALS} calls decided exactly once over three replicas with kills (KILL_SEED=${SEED})`, async () => {
  const clicks = new Map<string, Click[]>();
  const keyOf = new Map<string, string>();
  let kills = 0;
  for (let from = 0, number = 0; from < APPROVALS; from += WAVE, number += 1) {
    const waiting = await wave(from, Math.min(WAVE, APPROVALS - from));
    const killing = number % KILL_EVERY === 0 ? killOne().then(() => (kills += 1)) : undefined;
    await Promise.all(
      waiting.map(async (approval) => {
        keyOf.set(approval.id, approval.arguments.key);
        clicks.set(approval.id, await decide(approval));
      }),
    );
    await killing;
    // All three may have clicked at the one that was killed: somebody clicks again.
    for (const { id } of waiting) {
      const said = clicks.get(id) ?? [];
      if (said.some(({ outcome }) => outcome === 'decided' || outcome === 'too late')) continue;
      clicks.set(id, [...said, await click(replica(0), id, 'deny')]);
    }
  }
  await eventually(async () => {
    const open = await database.query(`SELECT id, status FROM turns WHERE status <> 'completed'`);
    expect(open).toEqual([]);
  }, DEFINITE_MS);

  const decided = await database.query<{ key: string; id: string; verdict: string | null; times: number }>(
    `SELECT a.id, a.verdict, a.arguments ->> 'key' AS key,
       (SELECT count(*)::int FROM audit_entries AS e WHERE e.action = 'approval.decided'
          AND e.session_id = a.session_id AND e.details ->> 'call_id' = a.call_id) AS times
     FROM tool_approvals AS a`,
  );
  expect(decided).toHaveLength(APPROVALS);
  // One decision each, in the row and in the audit, and no one but the first was told that theirs counts.
  expect(decided.filter(({ verdict, times }) => verdict === null || times !== 1)).toEqual([]);
  const strange = [...clicks].flatMap(([id, said]) => {
    const counted = said.filter(({ outcome }) => outcome === 'decided');
    const known = said.every(({ outcome }) => ['decided', 'too late', 'lost'].includes(outcome));
    const row = decided.find((one) => one.id === id);
    const fits = counted.every(
      ({ decision }) => row?.verdict === (decision === 'allow' ? 'allowed' : 'denied'),
    );
    return counted.length <= 1 && known && fits ? [] : [{ id, said, row }];
  });
  expect(strange).toEqual([]);
  // What was denied never ran; what was allowed ran once, or once at most where its replica was killed while it did.
  const times = (key: string) => ledger.calls.get(key) ?? 0;
  expect(decided.filter(({ key, verdict }) => times(key) > (verdict === 'allowed' ? 1 : 0))).toEqual([]);
  const allowed = decided.filter(({ verdict }) => verdict === 'allowed');
  const unknown = await database.query<{ content: string }>(
    `SELECT content::text AS content FROM turn_steps WHERE content::text LIKE '%Outcome unknown%'`,
  );
  expect(allowed.filter(({ key }) => times(key) === 0).length).toBeLessThanOrEqual(unknown.length);

  const waits = [...clicks]
    .flatMap(([id, said]) => {
      const started = ledger.firstAt.get(keyOf.get(id) ?? '');
      const counted = said.find(({ outcome }) => outcome === 'decided');
      return started === undefined || counted === undefined ? [] : [started - counted.at];
    })
    .sort((one, two) => one - two);
  const atShare = (share: number) => Math.round(waits[Math.floor(waits.length * share)] ?? 0);
  expect(kills).toBeGreaterThan(0);
  expect(waits.length).toBeGreaterThan(APPROVALS / 4);
  figure(['decided-once'], {
    ...{ seed: SEED, approvals: APPROVALS, kills, allowed: allowed.length },
    ...{ lost_answers: [...clicks.values()].flat().filter(({ outcome }) => outcome === 'lost').length },
    ...{ outcome_unknown: unknown.length, decided_twice: 0 },
    ...{
      click_to_tool_p50_ms: atShare(0.5),
      click_to_tool_p95_ms: atShare(0.95),
      click_to_tool_max_ms: atShare(0.9999),
    },
  });
});
