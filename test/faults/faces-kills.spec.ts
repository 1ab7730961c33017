import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { eventually } from '../harness/eventually.js';
import { figure } from '../harness/figure.js';
import { type GatewayProcess, ProcessBench, until } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { AUDIENCE, TestIssuer } from '../harness/identity.js';
import { startJudgingModel } from '../harness/judging-model.js';
import { McpBench, type ServerB } from '../harness/mcp.js';
import { randomFrom } from './support/chance.js';
import { ExchangeTools } from './support/exchange-tools.js';
import { askUntilAnswered, FACES } from './support/face-callers.js';
import type { StageDatabase } from './support/stage.js';
import { embeddedDatabase, externalDatabase } from './support/stage-databases.js';

/** The long form, FACE_KILLS=20, waits for leases to expire. KILL_SEED repeats a run. */
const KILLS = Number(process.env['FACE_KILLS'] ?? 3);
const isLong = process.env['FACE_KILLS'] !== undefined;
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
/** At each face. */
const CALLERS = 2;

jest.setTimeout(240_000 + KILLS * 30_000);

const SETTINGS = (issuer: TestIssuer): string => `
[prices."default/m"]
input = 10
output = 30
[limits.each_user]
daily_usd = 1000
[auth.jwt.corp]
issuer = "${issuer.url}"
audience = "${AUDIENCE}"
[auth.jwt.corp.roles]
"staff" = { scopes = ["sessions:read", "sessions:write"], bound = true }
`;

/** Replicas on one database, and the servers they use, which outlive them. */
class Fleet {
  readonly replicas: (GatewayProcess | undefined)[] = [];
  private constructor(
    readonly bench: ProcessBench,
    readonly database: StageDatabase,
    readonly issuer: TestIssuer,
    readonly tools: ExchangeTools,
    private readonly servers: McpBench,
    private readonly env: Readonly<Record<string, string>>,
    private readonly stopModel: () => Promise<void>,
  ) {}

  static async open(count: number, open: (bench: ProcessBench) => Promise<StageDatabase>): Promise<Fleet> {
    const bench = new ProcessBench();
    const [database, issuer, tools, model] = await Promise.all([
      open(bench),
      TestIssuer.open(),
      ExchangeTools.start(),
      startModel(),
    ]);
    const servers = await McpBench.make({ notes: tools.settings }, SETTINGS(issuer));
    const env = {
      ...model.env,
      ...database.env,
      ...servers.env,
      TOOLS_SECRET: 'of the gateway',
      GATEWAY_BOOTSTRAP_TOKEN: mintToken(),
      GATEWAY_MASTER_KEY: 'a master key that only tests may use',
      GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '100000',
      GATEWAY__RATE_LIMITS__SESSIONS_READ: '100000',
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
      GATEWAY__LOGGING__STORE_LEVEL: 'warn',
    };
    const fleet = new Fleet(bench, database, issuer, tools, servers, env, () => model.provider.stop());
    await Promise.all(Array.from({ length: count }, (_, place) => fleet.start(place)));
    return fleet;
  }

  /** The base URL of any replica that serves. */
  any(): string | undefined {
    const serving = this.replicas.flatMap((one) => one ?? []);
    return serving[Math.floor(Math.random() * serving.length)]?.b;
  }

  async kill(random: () => number): Promise<void> {
    await sleep(300 + random() * 1200);
    const place = Math.floor(random() * this.replicas.length);
    const victim = this.replicas[place];
    this.replicas[place] = undefined;
    victim?.kill('SIGKILL');
    await victim?.ended;
    await this.start(place);
    // A lease expires after 5 s; the short form does not wait for that.
    if (!isLong && victim !== undefined)
      await this.database.query(
        `UPDATE sessions SET turn_lease_until = now() - interval '1 second' WHERE turn_owner LIKE '%:' || $1 || ':%'`,
        [String(victim.pid)],
      );
  }

  /** As an operator with the command line on the replicas' machine. */
  async deny(subject: string): Promise<void> {
    const words = ['auth', 'deny', '--issuer', this.issuer.url, '--subject', subject];
    const { code, stderr } = await this.bench.run(words, { env: this.env });
    expect([code, stderr]).toEqual([0, expect.stringContaining('is denied')]);
  }

  async close(): Promise<void> {
    for (const replica of this.replicas) replica?.kill('SIGKILL');
    await Promise.all(this.replicas.flatMap((replica) => replica?.ended ?? []));
    for (const way of this.database.ways.values()) await way.cut();
    await this.database.close();
    await this.bench.clear();
    await Promise.all([this.issuer.close(), this.tools.stop(), this.stopModel(), this.servers.clear()]);
  }

  private async start(place: number): Promise<void> {
    const replica = await this.bench.serve({ env: this.env });
    const caller = new HttpCaller(replica.b, this.env['GATEWAY_BOOTSTRAP_TOKEN']);
    await until(async () => {
      const { body } = await caller.get<{ servers: readonly ServerB[] }>('/mcp');
      return body.servers.every(({ status }) => status === 'connected');
    }, 60_000);
    this.replicas[place] = replica;
  }
}

/** A model that has the tool note every message, then repeats the message with the tool's result. */
function startModel() {
  return startJudgingModel('openai', ({ messages }) => {
    const asked = messages.findLastIndex((one) => one.role === 'user' && one.results.length === 0);
    const key = messages[asked]?.text ?? '';
    const results = messages.slice(asked).flatMap((one) => one.results.map(({ content }) => content));
    if (results.length === 0) return { calls: [{ id: 'c1', name: 'notes__note', arguments: { key } }] };
    return { text: `You said ${key}: ${results.join(' ')}` };
  });
}

/** For every message: the user of its session, how often it is stored, and its answer. */
const KEPT = `
  SELECT u.content AS key, s.user_id, count(DISTINCT u.id)::int AS asked, count(a.id)::int AS answered,
    min(t.status) AS status
  FROM messages AS u JOIN sessions AS s ON s.id = u.session_id JOIN turns AS t ON t.id = u.turn_id
  LEFT JOIN messages AS a ON a.turn_id = u.turn_id AND a.role = 'assistant'
  WHERE u.role = 'user' GROUP BY u.content, s.user_id`;
/** What turns cost, and how much of it is in budgets and usage. */
const MONEY = `
  SELECT (SELECT round(sum(cost_usd), 6) FROM turns)::text AS turns, (SELECT count(*)::int FROM turns) AS turn_count,
    (SELECT round(sum(cost_usd), 6) FROM budget_spending WHERE scope = 'all')::text AS "all",
    (SELECT round(sum(cost_usd), 6) FROM budget_spending WHERE scope = 'users')::text AS users,
    (SELECT round(sum(cost_usd), 6) FROM usage_days)::text AS usage, (SELECT sum(turns)::int FROM usage_days) AS usage_turns`;

const settings = [
  { title: 'three replicas on one PostgreSQL', open: () => Fleet.open(3, externalDatabase) },
  { title: 'one gateway with its embedded PostgreSQL', open: () => Fleet.open(1, embeddedDatabase) },
];

test.each(settings)(
  `kill -9 at ${KILLS} chance moments under every face (KILL_SEED=${SEED}), $title: answered once, for the right person, paid once`,
  async ({ title, open }) => {
    const random = randomFrom(SEED);
    const fleet = await open();
    try {
      await fleet.deny('mallory');
      const mallory = await fleet.issuer.sign({ sub: 'mallory', exp: inAnHour() });
      const asked = new Map<string, string>();
      const refusals: number[] = [];
      let isOver = false;
      const talks = Object.entries(FACES).flatMap(([face, ask]) =>
        Array.from({ length: CALLERS }, async (_, caller) => {
          const subject = `${face}-${caller}`;
          const token = await fleet.issuer.sign({ sub: subject, exp: inAnHour() });
          for (let n = 0; !isOver; n += 1) {
            const key = `${subject}-${n}`;
            asked.set(key, `${fleet.issuer.url}|${subject}`);
            const answer = await askUntilAnswered(face, ask, key, token, () => fleet.any());
            // A call whose replica died is told "outcome unknown".
            expect([key, answer.startsWith(`You said ${key}: `)]).toEqual([key, true]);
          }
        }),
      );
      const comesBack = async (): Promise<void> => {
        for (; !isOver; await sleep(100)) {
          const base = fleet.any();
          const headers = { authorization: `Bearer ${mallory}` };
          const answer = base && (await fetch(`${base}/sessions`, { headers }).catch(() => undefined));
          if (answer) refusals.push(answer.status);
        }
      };
      // The load continues until after the last kill, even when a caller fails.
      const talked = Promise.allSettled([...talks, comesBack()]);
      try {
        for (let kill = 0; kill < KILLS; kill += 1) await fleet.kill(random);
        await sleep(1000);
      } finally {
        isOver = true;
      }
      const broken = (await talked).flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
      expect(broken).toEqual([]);

      const kept = await fleet.database.query<{
        key: string;
        user_id: string;
        asked: number;
        answered: number;
        status: string;
      }>(KEPT);
      const right = [...asked].map(([key, user_id]) => ({
        key,
        user_id,
        asked: 1,
        answered: 1,
        status: 'completed',
      }));
      const byKey = (one: { key: string }, other: { key: string }) => one.key.localeCompare(other.key);
      expect([...kept].sort(byKey)).toEqual(right.sort(byKey));
      // No call was made twice, and every call had the token of the person who asked.
      const calls = [...fleet.tools.callers];
      expect(calls.filter(([key, users]) => users.length !== 1 || users[0] !== asked.get(key))).toEqual([]);
      // A turn that a kill interrupted may have lost its call, and the model was told. At most all that ran at once.
      expect(calls.length).toBeGreaterThanOrEqual(asked.size - KILLS * CALLERS * Object.keys(FACES).length);
      expect(fleet.tools.exchanges).toBeGreaterThan(CALLERS * Object.keys(FACES).length);
      // A denied person is refused everywhere, also by a replica that has just started.
      expect(refusals.length).toBeGreaterThan(0);
      expect(refusals.filter((status) => status !== 401 && status !== 503)).toEqual([]);
      let money: Record<string, unknown> | undefined;
      await eventually(async () => {
        [money] = await fleet.database.query<Record<string, unknown>>(MONEY);
        const { turns, turn_count } = money ?? {};
        expect(money).toEqual({
          turns,
          turn_count,
          all: turns,
          users: turns,
          usage: turns,
          usage_turns: turn_count,
        });
      }, 30_000);
      expect([Number(money?.['turns']) > 0, money?.['turn_count']]).toEqual([true, asked.size]);
      figure(['faces'], {
        ...{ scenario: title, seed: SEED, kills: KILLS, messages: asked.size, calls: calls.length },
        ...{ exchanges: fleet.tools.exchanges, refused: refusals.length, cost_usd: money?.['turns'] },
      });
    } finally {
      await fleet.close();
    }
  },
);

function inAnHour(): number {
  return Math.floor(Date.now() / 1000) + 3600;
}
