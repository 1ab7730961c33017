import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Task, TaskState } from '@a2a-js/sdk';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { a2aClient, a2aRequest } from '../harness/a2a.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { figure } from '../harness/figure.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { type JudgingModel, startJudgingModel } from '../harness/judging-model.js';
import { underLoad } from '../harness/under-load.js';
import { randomFrom } from './support/chance.js';

/** The long form, PUSH_KILLS=10, waits for leases to expire. KILL_SEED repeats a run. */
const KILLS = Number(process.env['PUSH_KILLS'] ?? 2);
const isLong = process.env['PUSH_KILLS'] !== undefined;
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
const CALLERS = 3;
const DEFINITE_MS = 60_000;

jest.setTimeout(180_000 + KILLS * 30_000);

const bench = new ProcessBench();
const random = randomFrom(SEED);
const token = mintToken();
let database: TestDatabase;
let model: JudgingModel;
let receiver: HookReceiver;
let replicas: GatewayProcess[];

beforeAll(async () => {
  [database, receiver, model] = await Promise.all([
    createTestDatabase(),
    HookReceiver.open(),
    startJudgingModel('openai', ({ messages }) => ({ text: `You said ${messages.at(-1)!.text}` })),
  ]);
  // Fails from time to time.
  receiver.behaviour = () => (random() < 0.9 ? 200 : 500);
  replicas = await Promise.all([1, 2].map(startReplica));
}, 180_000);
afterAll(async () => {
  await bench.clear();
  await Promise.all([model.provider.stop(), receiver.close()]);
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
      GATEWAY__LIMITS__TASK_HOOKS_PER_API_TOKEN: '0',
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
      GATEWAY__LOGGING__STORE_LEVEL: 'warn',
    },
  });
}

/** Sends the same message until a replica says that its task has begun. */
async function begun(text: string): Promise<Task> {
  const messageId = randomUUID();
  const deadline = performance.now() + DEFINITE_MS;
  const push = {
    tenant: '',
    id: '',
    taskId: '',
    url: receiver.url(),
    token: 'push',
    authentication: undefined,
  };
  for (;;) {
    try {
      const client = await a2aClient(replicas[Math.floor(Math.random() * replicas.length)]!.b, token);
      return (await client.sendMessage(a2aRequest(text, { messageId }, true, push))) as Task;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

async function killOne(): Promise<void> {
  await sleep(200 + random() * 1000);
  const place = Math.floor(random() * replicas.length);
  const victim = replicas[place]!;
  victim.kill('SIGKILL');
  await victim.ended;
  if (!isLong)
    await database.query(
      `UPDATE sessions SET turn_lease_until = now() - interval '1 second' WHERE turn_owner LIKE '%:' || $1 || ':%'`,
      [String(victim.pid)],
    );
  replicas[place] = await startReplica();
}

interface Told {
  readonly id: string;
  readonly body: string;
  readonly task: string;
  readonly state: string;
}

function told(): Told[] {
  return receiver.attempts.map(({ body, headers }) => {
    const said = JSON.parse(body) as Record<
      'task' | 'statusUpdate',
      { id: string; taskId: string; status: { state: string } } | undefined
    >;
    const one = (said.task ?? said.statusUpdate)!;
    return { id: headers['webhook-id']!, body, task: said.task?.id ?? one.taskId, state: one.status.state };
  });
}

test(`kill -9 at ${KILLS} chance moments (KILL_SEED=${SEED}): whoever asked is told how each task ended, with one id and one body`, async () => {
  const tasks: string[] = [];
  const talk = (isOver: () => boolean) => async (_: unknown, caller: number) => {
    for (let n = 0; !isOver(); n += 1) {
      tasks.push((await begun(`caller-${caller}-${n}`)).id);
      await sleep(20);
    }
  };
  await underLoad(
    (isOver) => Array.from({ length: CALLERS }, talk(isOver)),
    async () => {
      for (let kill = 0; kill < KILLS; kill += 1) await killOne();
    },
  );
  receiver.behaviour = () => 200;
  const completed = TaskState[TaskState.TASK_STATE_COMPLETED];
  await eventually(() => {
    const ended = new Set(told().flatMap(({ task, state }) => (state === completed ? [task] : [])));
    expect(tasks.filter((id) => !ended.has(id))).toEqual([]);
  }, DEFINITE_MS);
  const bodies = new Map<string, string>();
  const ids = new Map<string, Set<string>>();
  for (const { id, body, task, state } of told()) {
    expect([id, bodies.get(id) ?? body]).toEqual([id, body]);
    bodies.set(id, body);
    const change = `${task} ${state}`;
    ids.set(change, (ids.get(change) ?? new Set()).add(id));
  }
  // Each change has one id, so a receiver can recognise a repeated notification.
  expect([...ids].filter(([, of]) => of.size > 1)).toEqual([]);
  expect(tasks.length).toBeGreaterThan(KILLS);
  figure(['webhooks'], { seed: SEED, kills: KILLS, tasks: tasks.length, attempts: receiver.attempts.length });
});
