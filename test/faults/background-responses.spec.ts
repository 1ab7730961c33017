import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { figure } from '../harness/figure.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { type JudgingModel, startJudgingModel } from '../harness/judging-model.js';
import { underLoad } from '../harness/under-load.js';
import { randomFrom } from './support/chance.js';

/** The long form, BACKGROUND_KILLS=20, waits for leases to expire. KILL_SEED repeats a run. */
const KILLS = Number(process.env['BACKGROUND_KILLS'] ?? 2);
const isLong = process.env['BACKGROUND_KILLS'] !== undefined;
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
const CALLERS = 6;
/** Until a response has ended, whatever happened to its replica. */
const DEFINITE_MS = 60_000;

jest.setTimeout(180_000 + KILLS * 30_000);

const TOOL = {
  type: 'function' as const,
  name: 'weather',
  parameters: { type: 'object', properties: {} },
  strict: false,
};

const bench = new ProcessBench();
const random = randomFrom(SEED);
const token = mintToken();
let database: TestDatabase;
let model: JudgingModel;
let replicas: GatewayProcess[];

/** How often the model was asked, by key: once, and once more for each kill that lost its answer. */
const ledger = new Map<string, number>();

/** Repeats the question, and first asks for the weather when told to. */
async function startModel(): Promise<JudgingModel> {
  let calls = 0;
  return startJudgingModel('openai', ({ messages }) => {
    const last = messages.at(-1)!;
    const key = messages.findLast((one) => one.role === 'user' && one.results.length === 0)?.text;
    const asked = last.results.length > 0 ? `${key} with its outputs` : String(key);
    ledger.set(asked, (ledger.get(asked) ?? 0) + 1);
    const results = messages.flatMap((one) => one.results.map(({ content }) => content));
    calls += 1;
    if (last.role === 'user' && last.results.length === 0 && last.text.endsWith('?'))
      return { calls: [{ id: `call_${calls}`, name: 'weather', arguments: {} }] };
    return { text: `You said ${last.text} ${results.join(' ')}` };
  });
}

beforeAll(async () => {
  [database, model] = await Promise.all([createTestDatabase(), startModel()]);
  replicas = await Promise.all([1, 2, 3].map(startReplica));
}, 180_000);
afterAll(async () => {
  await bench.clear();
  await model.provider.stop();
  await database.drop();
});

function startReplica(): Promise<GatewayProcess> {
  return bench.serve({
    env: {
      ...model.env,
      DATABASE_URL: database.url,
      GATEWAY_BOOTSTRAP_TOKEN: token,
      GATEWAY_MASTER_KEY: 'a master key that only tests may use',
      GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '100000',
      GATEWAY__RATE_LIMITS__SESSIONS_READ: '100000',
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
      GATEWAY__LOGGING__STORE_LEVEL: 'warn',
    },
  });
}

/** A client of any replica that serves. */
function client(): OpenAI {
  const { b } = replicas[Math.floor(Math.random() * replicas.length)] as GatewayProcess;
  return new OpenAI({ apiKey: token, baseURL: new URL('/v1', b).href, maxRetries: 0, timeout: 20_000 });
}

/** Retries after a cut, or when told to come back. A refusal is final. */
async function repeatUntilAnswered<Result>(call: (from: OpenAI) => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + DEFINITE_MS;
  for (;;) {
    try {
      return await call(client());
    } catch (error) {
      const status = error instanceof OpenAI.APIError ? Number(error.status ?? 0) : 0;
      const isKnown = status >= 400 && status < 500 && status !== 409 && status !== 429;
      if (isKnown || performance.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

/** The accepted responses, and the question of each. */
const accepted = new Map<string, string>();

function create(key: string, more: object): Promise<OpenAiResponse> {
  const body = { model: 'default', background: true, tools: [TOOL], input: key, ...more };
  return repeatUntilAnswered(async (from) => {
    const response = await from.responses.create(body as never, { headers: { 'Idempotency-Key': key } });
    accepted.set(response.id, key);
    return response;
  });
}

/** Polls any replica until the response has ended. */
async function over({ id }: OpenAiResponse): Promise<OpenAiResponse> {
  const deadline = performance.now() + DEFINITE_MS;
  for (;;) {
    const now = await repeatUntilAnswered((from) => from.responses.retrieve(id));
    if (now.status !== 'queued' && now.status !== 'in_progress') return now;
    if (performance.now() > deadline) throw new Error(`${id} is still ${now.status}`);
    await sleep(100);
  }
}

async function killOne(): Promise<void> {
  await sleep(200 + random() * 1000);
  const place = Math.floor(random() * replicas.length);
  const victim = replicas[place] as GatewayProcess;
  victim.kill('SIGKILL');
  await victim.ended;
  if (!isLong)
    await database.query(
      `UPDATE sessions SET turn_lease_until = now() - interval '1 second' WHERE turn_owner LIKE '%:' || $1 || ':%'`,
      [String(victim.pid)],
    );
  replicas[place] = await startReplica();
}

test(`kill -9 at ${KILLS} chance moments under background responses (KILL_SEED=${SEED}): each that was accepted is answered, once`, async () => {
  const talk = (isOver: () => boolean) => async (_: unknown, caller: number) => {
    for (let n = 0; !isOver(); n += 1) {
      const key = `caller-${caller}-${n}`;
      const first = await over(await create(`${key}?`, {}));
      const calls = first.output.filter((item) => item.type === 'function_call');
      expect([key, first.status, calls.length]).toEqual([key, 'completed', 1]);
      const input = calls.map(({ call_id }) => ({
        type: 'function_call_output',
        call_id,
        output: `rain-${key}`,
      }));
      const second = await over(await create(`${key}+`, { previous_response_id: first.id, input }));
      expect([key, second.status, second.output_text]).toEqual([
        key,
        'completed',
        expect.stringContaining(`rain-${key}`),
      ]);
    }
  };
  // The load continues until after the last kill, even when a caller fails.
  await underLoad(
    (isOver) => Array.from({ length: CALLERS }, talk(isOver)),
    async () => {
      for (let kill = 0; kill < KILLS; kill += 1) await killOne();
    },
  );

  const ids = [...accepted.keys()].map((id) => id.replace('resp_', 'turn_'));
  const answers = await database.query<{ id: string; status: string; answers: number }>(
    `SELECT turns.id, turns.status, (
       SELECT count(*)::int FROM messages WHERE messages.turn_id = turns.id AND role = 'assistant') AS answers
     FROM turns WHERE id = ANY ($1)`,
    [ids],
  );
  expect(answers.filter(({ status, answers: n }) => status !== 'completed' || n !== 1)).toEqual([]);
  expect(answers).toHaveLength(ids.length);
  // Every question reached the model. Each kill repeats at most the questions that ran at that moment.
  const repeated = [...ledger.values()].reduce((sum, asked) => sum + asked - 1, 0);
  expect(ledger.size).toBe(ids.length);
  expect(repeated).toBeLessThanOrEqual(KILLS * CALLERS);
  // Nothing ran unacknowledged: each key has one response.
  const [row] = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM responses');
  expect([row?.n, new Set(accepted.values()).size]).toEqual([ids.length, ids.length]);
  expect(ids.length).toBeGreaterThan(KILLS);
  await eventually(async () => {
    const waiting = await database.query(`SELECT 1 FROM turns WHERE status IN ('running', 'waiting')`);
    expect(waiting).toEqual([]);
  });
  figure(['nothing-lost', 'once-per-key'], {
    seed: SEED,
    kills: KILLS,
    accepted: ids.length,
    answered_once: answers.length,
    asked_again: repeated,
  });
});
