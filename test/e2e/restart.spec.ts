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
import { StoryLine } from '../harness/story-line.js';

// Starts take long on a busy machine.
jest.setTimeout(120_000);

const bench = new ProcessBench();
/** One place waits for the lease of a lost turn; the other is for tests that wait for no lease. */
let waiting: Place;
let busy: Place;
beforeAll(async () => {
  [waiting, busy] = await Promise.all([Place.make(), Place.make()]);
});
afterAll(async () => {
  await bench.clear();
  await Promise.all([waiting.provider.stop(), busy.provider.stop()]);
});

/** A data directory with its gateways, one after the other, and a model. */
class Place {
  readonly line = new StoryLine();
  private token: string | undefined;

  private constructor(
    readonly dataDir: string,
    readonly provider: ScriptedProvider,
  ) {}

  static async make(): Promise<Place> {
    const provider = await startScriptedProvider();
    // Accepts every request and never answers.
    provider.script(() => undefined);
    return new Place(join(await bench.folder(), 'data'), provider);
  }

  /** The first start creates the token for all of them. */
  async serve(env: Readonly<Record<string, string>> = {}): Promise<GatewayProcess> {
    const started = await bench.serve({ env: { GATEWAY_DATA_DIR: this.dataDir, ...env } });
    this.token ??= started.token;
    return started;
  }

  /** A model that never answers, so that a turn runs until something ends it. */
  serveWithHangingModel(): Promise<GatewayProcess> {
    return this.serve({
      GATEWAY__PROVIDER__KIND: 'openai',
      GATEWAY__PROVIDER__BASE_URL: `${this.provider.url}/v1`,
    });
  }

  caller(base: string): HttpCaller {
    return new HttpCaller(base, this.token);
  }

  async turnStatuses(session: string): Promise<string[]> {
    const host = join(this.dataDir, 'postgres');
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

  async newSession(gateway: GatewayProcess): Promise<string> {
    const created = await this.caller(gateway.a).post<{ session_id: string }>('/sessions', {
      user_id: 'ada',
    });
    expect(created.status).toBe(201);
    return created.body.session_id;
  }

  /** Sends a message that nobody will answer. Returns when the model has it. */
  async beginTurn(gateway: GatewayProcess, session: string): Promise<void> {
    const before = this.provider.requests.length;
    this.caller(gateway.a)
      .post(`/sessions/${session}/messages`, { content: 'Are you there?' })
      .catch(() => undefined);
    await until(() => this.provider.requests.length > before, 10_000);
  }
}

async function stop(gateway: GatewayProcess): Promise<void> {
  gateway.kill('SIGTERM');
  expect((await gateway.ended).code).toBe(0);
}

/** The message is kept, and answered once. */
const KEPT_AND_ANSWERED = [{ role: 'user', content: 'Are you there?' }, { role: 'assistant' }];

test.concurrent('sessions, messages and tokens survive a kill -9, and the next start takes over the running database', () =>
  busy.line.play(async () => {
    const killed = await busy.serve();
    const session = await busy.newSession(killed);
    const before = busy.caller(killed.a);
    expect((await before.post(`/sessions/${session}/messages`, { content: 'Hello' })).status).toBe(200);
    const history = (await before.get(`/sessions/${session}/messages`)).body;
    const postmaster = runningPostmaster(busy.dataDir);
    killed.kill('SIGKILL');
    expect((await killed.ended).signal).toBe('SIGKILL');
    expect(isAlive(postmaster)).toBe(true);

    const next = await busy.serve();
    expect(next.token).toBeUndefined();
    expect(postmasterPid(busy.dataDir)).toBe(postmaster);
    const after = busy.caller(next.b);
    expect((await after.get(`/sessions/${session}/messages`)).body).toEqual(history);
    expect((await after.post(`/sessions/${session}/messages`, { content: 'Still there?' })).status).toBe(200);
    await stop(next);
    expect(isAlive(postmaster)).toBe(false);
  }));

test.concurrent('a turn that runs at a kill -9 goes on at the next start, and is answered', () =>
  waiting.line.play(async () => {
    const killed = await waiting.serveWithHangingModel();
    const session = await waiting.newSession(killed);
    await waiting.beginTurn(killed, session);
    expect(await waiting.turnStatuses(session)).toEqual(['running']);
    killed.kill('SIGKILL');
    await killed.ended;

    const next = await waiting.serve();
    await until(async () => (await waiting.turnStatuses(session))[0] === 'completed', 20_000);
    const { body } = await waiting.caller(next.a).get(`/sessions/${session}/messages`);
    expect(body).toMatchObject({ messages: KEPT_AND_ANSWERED });
    await stop(next);
  }));

test.concurrent('a first signal waits for a running turn, a second leaves it to the next start, which answers it', () =>
  busy.line.play(async () => {
    const gateway = await busy.serveWithHangingModel();
    const session = await busy.newSession(gateway);
    await busy.beginTurn(gateway, session);
    gateway.kill('SIGTERM');
    // npm forwards the terminal's Ctrl-C right after it; that does not count as a second one.
    await sleep(50);
    gateway.kill('SIGTERM');
    await until(() => gateway.output().includes('the gateway is stopping'), 5000);
    await sleep(700);
    expect(gateway.output()).not.toContain('turns are handed over');
    expect(isAlive(gateway.pid)).toBe(true);
    gateway.kill('SIGTERM');
    const { code, stdout } = await gateway.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('turns are handed over');

    const next = await busy.serve();
    await until(async () => (await busy.turnStatuses(session))[0] === 'completed', 20_000);
    const { body } = await busy.caller(next.b).get(`/sessions/${session}/messages`);
    expect(body).toMatchObject({ messages: KEPT_AND_ANSWERED });
    await stop(next);
  }));

test.concurrent('a third signal ends the process at once, with the code that shells give to it', () =>
  busy.line.play(async () => {
    const gateway = await busy.serve();
    // A database server that does not stop delays the end of the gateway.
    const postmaster = runningPostmaster(busy.dataDir);
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
  }));
