import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { echo } from '../harness/channels.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { figure } from '../harness/figure.js';
import { type GatewayProcess, ProcessBench, until } from '../harness/gateway-process.js';
import { type Answer, HttpCaller } from '../harness/http-caller.js';
import { wires } from '../harness/provider-wires.js';
import { beginStream, type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer } from '../harness/turn-stream.js';

/** The long form, GATEWAY_LONG_FAULTS=1: twelve kills, and leases expire by themselves. */
const isLong = process.env.GATEWAY_LONG_FAULTS === '1';
const KILLS = isLong ? 12 : 2;
const CALLERS = 12;

// Starts take long on a busy machine, and a lease takes fifteen seconds.
jest.setTimeout(120_000 + (isLong ? KILLS * 30_000 : 0));

const bench = new ProcessBench();
let database: TestDatabase;
let provider: ScriptedProvider;
const token = mintToken();
let env: Record<string, string>;
let standing: GatewayProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await startScriptedProvider();
  env = {
    DATABASE_URL: database.url,
    GATEWAY__DATABASE__POOL_SIZE: '5',
    GATEWAY_BOOTSTRAP_TOKEN: token,
    GATEWAY_MASTER_KEY: 'a master key that only tests may use',
    GATEWAY__PROVIDER__KIND: 'openai',
    GATEWAY__PROVIDER__BASE_URL: `${provider.url}/v1`,
    GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '100000',
    // Longer than a test: a message that waits behind that of a killed replica must not time out.
    GATEWAY__AGENT__MAX_WAIT_MS: '600000',
    GATEWAY__LOGGING__STORE_LEVEL: 'warn',
  };
  standing = await bench.serve({ env });
});
afterAll(async () => {
  await bench.clear();
  await provider.stop();
  await database.drop();
});

interface Written {
  session_id: string;
  message_id: string;
}

/** Undefined when the connection broke before a response. */
function post(at: GatewayProcess, path: string, body: object, key: string) {
  return new HttpCaller(at.a, token)
    .post<Written>(path, body, { 'idempotency-key': key })
    .catch(() => undefined);
}

/** A careful client: after a cut, or when told to come back, it asks the other process with the same key. */
async function carefully(first: GatewayProcess, path: string, body: object, key: string) {
  let answer = await post(first, path, body, key);
  const deadline = performance.now() + 60_000;
  while (answer === undefined || answer.headers.has('retry-after')) {
    if (performance.now() > deadline) throw new Error(`${key} has no answer: ${answer?.text}`);
    await sleep(answer === undefined ? 20 : 300);
    answer = await post(standing, path, body, key);
  }
  return answer;
}

/** Kills a process, and ends its leases instead of waiting fifteen seconds for them. */
async function killNow(victim: GatewayProcess): Promise<void> {
  victim.kill('SIGKILL');
  await victim.ended;
  if (isLong) return;
  await database.query(
    `UPDATE sessions SET turn_lease_until = now() - interval '1 second' WHERE turn_owner LIKE '%:' || $1 || ':%'`,
    [String(victim.pid)],
  );
}

interface Story {
  readonly key: string;
  readonly session: string;
  readonly sent: Answer<Written>;
}

/** Creates sessions and says something in each, each request with its own key. */
async function keepTalking(at: GatewayProcess, name: string, isOver: () => boolean): Promise<Story[]> {
  const stories: Story[] = [];
  for (let n = 0; !isOver(); n += 1) {
    const key = `${name}-${n}`;
    const created = await carefully(at, '/sessions', { user_id: key }, key);
    expect(created.status).toBe(201);
    const session = created.body.session_id;
    const sent = await carefully(at, `/sessions/${session}/messages`, { content: 'Hello' }, key);
    stories.push({ key, session, sent });
  }
  return stories;
}

test('kill -9 under load, and the same keys again on another process: every effect once, every answer definite', async () => {
  const wire = wires[0];
  if (wire === undefined) throw new Error('There is no wire.');
  provider.script(async (response) => {
    await sleep(15);
    beginStream(response, ...wire.opening, wire.text('Hi'), ...wire.closing);
    response.end();
  });
  const stories: Story[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const victim = await bench.serve({ env });
    let over = false;
    const asked = provider.requests.length;
    const talks = Array.from({ length: CALLERS }, (_, caller) =>
      keepTalking(victim, `k${kill}-c${caller}`, () => over),
    );
    await sleep(400 + kill * 137);
    // By now a caller is at its second message, however slow the machine.
    await until(() => provider.requests.length > asked + CALLERS, 20_000);
    over = true;
    await killNow(victim);
    stories.push(...(await Promise.all(talks)).flat());
  }
  expect(stories.length).toBeGreaterThan(KILLS * CALLERS);
  const rows = await database.query<{ user_id: string; id: string; asked: number; turns: number }>(
    `SELECT user_id, id,
       (SELECT count(*)::int FROM messages WHERE session_id = sessions.id AND role = 'user') AS asked,
       (SELECT count(*)::int FROM turns WHERE session_id = sessions.id) AS turns
     FROM sessions`,
  );
  expect(rows.map(({ user_id }) => user_id).sort()).toEqual(stories.map(({ key }) => key).sort());
  expect(new Set(rows.map(({ asked, turns }) => `${asked} ${turns}`))).toEqual(new Set(['1 1']));
  figure(['once-per-key'], { kills: KILLS, keys: stories.length, model_calls: provider.requests.length });
  // The model is asked once in each attempt at a turn.
  const [tried] = await database.query<{ n: number }>('SELECT sum(attempts)::int AS n FROM turns');
  expect(provider.requests.length).toBeLessThanOrEqual(tried?.n ?? 0);
  for (const { key, session, sent } of stories) {
    expect([key, sent.status === 200 || sent.text.includes('is not run again')]).toEqual([key, true]);
    const again = await post(standing, `/sessions/${session}/messages`, { content: 'Hello' }, key);
    expect([again?.status, again?.text]).toEqual([sent.status, sent.text]);
  }
});

test('a turn that runs at the kill: in use while its lease lasts, then answered by another replica, once', async () => {
  provider.script(() => undefined, echo());
  const victim = await bench.serve({ env });
  const session = (await post(victim, '/sessions', {}, 'mid-turn'))?.body.session_id ?? '';
  const path = `/sessions/${session}/messages`;
  const sent = post(victim, path, { content: 'Are you there?' }, 'mid-turn');
  await until(() => provider.requests.length === 1, 10_000);
  victim.kill('SIGKILL');
  expect(await sent).toBeUndefined();
  const meanwhile = await post(standing, path, { content: 'Are you there?' }, 'mid-turn');
  expect([meanwhile?.status, meanwhile?.headers.get('retry-after')]).toEqual([409, '1']);
  await killNow(victim);
  const last = await carefully(standing, path, { content: 'Are you there?' }, 'mid-turn');
  expect([last.status, last.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  expect(last.text).toContain('You said: Are you there?');
  expect(provider.requests).toHaveLength(2);
  const { body } = await new HttpCaller(standing.a, token).get<{ messages: { role: string }[] }>(path);
  expect(body.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: 'You said: Are you there?' },
  ]);
  expect(body.messages).toHaveLength(2);
});

test('a message that waited at the kill holds up neither the one behind it nor itself, sent again', async () => {
  const busy = heldAnswer();
  provider.script(busy.script, echo(), echo());
  const asked = provider.requests.length;
  const victim = await bench.serve({ env });
  const session = (await post(standing, '/sessions', {}, 'in-line'))?.body.session_id ?? '';
  const path = `/sessions/${session}/messages`;
  const waiting = async () => {
    const [row] = await database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM turns WHERE session_id = $1 AND status = 'waiting'`,
      [session],
    );
    return row?.n;
  };
  const first = post(standing, path, { content: 'First' }, 'in-line-1');
  await until(() => provider.requests.length === asked + 1, 10_000);
  const lost = post(victim, path, { content: 'Second' }, 'in-line-2');
  await until(async () => (await waiting()) === 1, 10_000);
  const behind = post(standing, path, { content: 'Third' }, 'in-line-3');
  await until(async () => (await waiting()) === 2, 10_000);
  victim.kill('SIGKILL');
  expect(await lost).toBeUndefined();
  busy.finish();
  expect((await first)?.status).toBe(200);
  expect((await behind)?.text).toContain('You said: Third');
  const again = await carefully(standing, path, { content: 'Second' }, 'in-line-2');
  expect([again.status, again.text]).toEqual([200, expect.stringContaining('You said: Second')]);
  expect(provider.requests).toHaveLength(asked + 3);
});
