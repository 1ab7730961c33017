import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import {
  type GatewayProcess,
  isAlive,
  ProcessBench,
  postmasterPid,
  runningPostmaster,
  until,
} from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';

// Starts take long on a machine that is busy with others.
jest.setTimeout(120_000);

const bench = new ProcessBench();
let provider: ScriptedProvider;
let env: { GATEWAY_DATA_DIR: string };
let token: string;
beforeAll(async () => {
  env = { GATEWAY_DATA_DIR: join(await bench.folder(), 'data') };
  token = (await bench.run(['auth', 'token'], { env })).stdout.trim();
  provider = await startScriptedProvider();
  // Takes every request and answers none.
  provider.script(() => undefined);
});
afterAll(async () => {
  await bench.clear();
  await provider.stop();
});

/** A model that never answers, so that a turn runs until something ends it. */
function serveWithHangingModel(): Promise<GatewayProcess> {
  const model = { GATEWAY__PROVIDER__KIND: 'openai', GATEWAY__PROVIDER__BASE_URL: `${provider.url}/v1` };
  return bench.serve({ env: { ...env, ...model } });
}

async function turnStatuses(session: string): Promise<string[]> {
  const host = join(env.GATEWAY_DATA_DIR, 'postgres');
  const client = new Client({ host, port: 5432, user: 'gateway', database: 'agent_gateway' });
  await client.connect();
  try {
    const { rows } = await client.query<{ status: string }>(
      'SELECT status FROM turns WHERE session_id = $1 ORDER BY created_at',
      [session],
    );
    return rows.map(({ status }) => status);
  } finally {
    await client.end();
  }
}

async function newSession(gateway: GatewayProcess): Promise<string> {
  const caller = new HttpCaller(gateway.a, token);
  const created = await caller.post<{ session_id: string }>('/sessions', { user_id: 'ada' });
  expect(created.status).toBe(201);
  return created.body.session_id;
}

/** Sends a message that nobody will answer, and returns once the model has it. */
async function beginTurn(gateway: GatewayProcess, session: string): Promise<void> {
  const before = provider.requests.length;
  new HttpCaller(gateway.a, token)
    .post(`/sessions/${session}/messages`, { content: 'Are you there?' })
    .catch(() => undefined);
  await until(() => provider.requests.length > before, 10_000);
}

async function stop(gateway: GatewayProcess): Promise<void> {
  gateway.kill('SIGTERM');
  expect((await gateway.ended).code).toBe(0);
}

test('sessions, messages and tokens survive a kill -9, and the next start takes over the running database', async () => {
  const killed = await bench.serve({ env });
  const session = await newSession(killed);
  const before = new HttpCaller(killed.a, token);
  expect((await before.post(`/sessions/${session}/messages`, { content: 'Hello' })).status).toBe(200);
  const history = (await before.get(`/sessions/${session}/messages`)).body;
  const postmaster = runningPostmaster(env.GATEWAY_DATA_DIR);
  killed.kill('SIGKILL');
  expect((await killed.ended).signal).toBe('SIGKILL');
  expect(isAlive(postmaster)).toBe(true);

  const next = await bench.serve({ env });
  expect(next.token).toBeUndefined();
  expect(postmasterPid(env.GATEWAY_DATA_DIR)).toBe(postmaster);
  const after = new HttpCaller(next.b, token);
  expect((await after.get(`/sessions/${session}/messages`)).body).toEqual(history);
  expect((await after.post(`/sessions/${session}/messages`, { content: 'Still there?' })).status).toBe(200);
  await stop(next);
  expect(isAlive(postmaster)).toBe(false);
});

/** What was said is kept, and the history says that the answer to it was interrupted. */
const KEPT_AND_TOLD = [
  { role: 'user', content: 'Are you there?' },
  { role: 'assistant', incomplete: 'interrupted' },
];

test('a turn that runs at a kill -9 is closed as interrupted, and its message stays in the history', async () => {
  const killed = await serveWithHangingModel();
  const session = await newSession(killed);
  await beginTurn(killed, session);
  expect(await turnStatuses(session)).toEqual(['running']);
  killed.kill('SIGKILL');
  await killed.ended;

  const next = await bench.serve({ env });
  await until(async () => (await turnStatuses(session))[0] === 'interrupted', 20_000);
  const { body } = await new HttpCaller(next.a, token).get(`/sessions/${session}/messages`);
  expect(body).toMatchObject({ messages: KEPT_AND_TOLD });
  await stop(next);
});

test('a first signal waits for a running turn, a second interrupts it, and the message is kept', async () => {
  const gateway = await serveWithHangingModel();
  const session = await newSession(gateway);
  await beginTurn(gateway, session);
  gateway.kill('SIGTERM');
  // What npm passes on of the terminal's Ctrl-C comes right after it and is no second wish.
  await sleep(50);
  gateway.kill('SIGTERM');
  await until(() => gateway.output().includes('the gateway is stopping'), 5000);
  await sleep(700);
  expect(gateway.output()).not.toContain('turns are interrupted');
  expect(isAlive(gateway.pid)).toBe(true);
  gateway.kill('SIGTERM');
  const { code, stdout } = await gateway.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('turns are interrupted');

  const next = await bench.serve({ env });
  expect(await turnStatuses(session)).toEqual(['interrupted']);
  const { body } = await new HttpCaller(next.b, token).get(`/sessions/${session}/messages`);
  expect(body).toMatchObject({ messages: KEPT_AND_TOLD });
  await stop(next);
});

test('a third signal ends the process at once, with the code that shells give to it', async () => {
  const gateway = await bench.serve({ env });
  // A server that does not stop holds up the end of the gateway.
  const postmaster = runningPostmaster(env.GATEWAY_DATA_DIR);
  process.kill(postmaster, 'SIGSTOP');
  try {
    for (const mark of ['asked to stop', 'asked again']) {
      gateway.kill('SIGINT');
      await until(() => gateway.output().includes(mark), 5000);
      await sleep(400);
    }
    expect(isAlive(gateway.pid)).toBe(true);
    gateway.kill('SIGINT');
    expect(await gateway.ended).toMatchObject({ code: 130, signal: null });
  } finally {
    process.kill(postmaster, 'SIGCONT');
  }
});
