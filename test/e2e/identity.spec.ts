import { writeFile } from 'node:fs/promises';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { configEnv, issuerToml, removeConfigs, signingKey, TestIssuer } from '../harness/identity.js';
import { SocketClient } from '../harness/socket-client.js';
import { TurnStream } from '../harness/turn-stream.js';

jest.setTimeout(120_000);

const processes = new ProcessBench();
let database: TestDatabase;
let receiver: HookReceiver;
let issuer: TestIssuer;
let env: Record<string, string>;
let one: TestGateway;
let two: TestGateway;

beforeAll(async () => {
  [database, receiver, issuer] = await Promise.all([
    createTestDatabase(),
    HookReceiver.open(),
    TestIssuer.open(),
  ]);
  env = await configEnv(issuerToml(issuer));
  [one, two] = await Promise.all([startTestGateway({ database, env }), startTestGateway({ database, env })]);
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await Promise.all([issuer.close(), receiver.close(), processes.clear(), removeConfigs()]);
  await database.drop();
});
afterEach(() => {
  issuer.isAway = false;
});

const userOf = (sub: string) => `${issuer.url}|${sub}`;
const bound = (sub: string, more = {}) => issuer.sign({ sub, groups: ['support'], ...more });

test('A token without a role: 403', async () => {
  const caller = one.caller('b', await issuer.sign({ groups: ['strangers'] }));
  for (const path of ['/sessions', '/status']) {
    const { status, body } = await caller.get(path);
    expect([status, body]).toEqual([
      403,
      { error: expect.objectContaining({ details: { reason: 'no_role' } }) as unknown },
    ]);
  }
  expect((await one.caller('a', await issuer.sign({ groups: [] })).get('/sessions')).status).toBe(403);
});

test('`bound` callers see only their own sessions, and a role has its scopes and no others', async () => {
  const [ada, bob] = [one.caller('b', await bound('ada')), two.caller('b', await bound('bob'))];
  const { body } = await ada.post<{ id: string }>('/sessions', {});
  expect((await one.b.get<{ user_id: string }>(`/sessions/${body.id}`)).body.user_id).toBe(userOf('ada'));
  expect((await ada.get(`/sessions/${body.id}`)).status).toBe(200);
  expect((await bob.get(`/sessions/${body.id}`)).status).toBe(404);
  expect((await ada.get('/config')).status).toBe(403);
  const reader = one.caller('b', await issuer.sign({ groups: ['reader'] }));
  expect((await reader.get(`/sessions/${body.id}`)).status).toBe(200);
  expect((await reader.post('/sessions', {})).status).toBe(403);
});

test('A `user_id` with a `|` or the prefix `token:` is refused from callers without that scope', async () => {
  const plain = one.caller('b', await one.mint({ scopes: ['sessions:write'], name: 'plain' }));
  for (const user_id of [userOf('ada'), 'a|b', 'token:somebody']) {
    const { status, body } = await plain.post('/sessions', { user_id });
    expect([status, body]).toEqual([
      403,
      { error: expect.objectContaining({ details: { reason: 'reserved_user_id' } }) as unknown },
    ]);
  }
  expect((await plain.post('/sessions', { user_id: 'ada' })).status).toBe(201);
  const vouching = await one.mint({ scopes: ['sessions:write', 'users:act_as'], name: 'portal' });
  expect((await one.caller('b', vouching).post('/sessions', { user_id: userOf('ada') })).status).toBe(201);
  const ada = one.caller('b', await bound('ada'));
  expect((await ada.post('/sessions', { user_id: userOf('ada') })).status).toBe(201);
});

test('0 calls to the issuer for a token that was seen, and the same for new tokens of known keys', async () => {
  const token = await issuer.sign();
  await one.caller('b', token).get('/sessions');
  const before = issuer.calls;
  for (let n = 0; n < 50; n += 1) expect((await one.caller('b', token).get('/sessions')).status).toBe(200);
  for (let n = 0; n < 20; n += 1) {
    expect((await one.caller('b', await issuer.sign({ jti: `${n}` })).get('/sessions')).status).toBe(200);
  }
  expect(issuer.calls).toBe(before);
});

test('key rotation under load refuses no good request', async () => {
  const answers: number[] = [];
  let isOver = false;
  const load = Array.from({ length: 8 }, async (_, lane) => {
    for (let n = 0; !isOver; n += 1) {
      const token = await issuer.sign({ jti: `rotation-${lane}-${n}` });
      answers.push((await (lane % 2 === 0 ? one : two).caller('b', token).get('/sessions')).status);
    }
  });
  for (const kid of ['second', 'third']) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const next = await signingKey(kid, kid === 'third' ? 'ES256' : 'RS256');
    issuer.keys = [...issuer.keys.slice(-1), next];
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
  isOver = true;
  await Promise.all(load);
  expect(answers.length).toBeGreaterThan(30);
  expect(answers.filter((status) => status !== 200)).toEqual([]);
});

test('kept when the issuer is away; a cold start without it: JWTs are 503, API tokens work', async () => {
  const token = await issuer.sign();
  issuer.isAway = true;
  expect((await one.caller('b', await issuer.sign({ jti: 'while-away' })).get('/sessions')).status).toBe(200);
  const cold = await startTestGateway({ database, env });
  try {
    const { status, headers, body } = await cold.caller('b', token).get('/sessions');
    expect([status, body]).toEqual([
      503,
      { error: expect.objectContaining({ details: { reason: 'issuer_unavailable' } }) as unknown },
    ]);
    expect(headers.get('retry-after')).toBe('10');
    expect((await cold.caller('a', token).get('/sessions')).status).toBe(503);
    expect((await cold.b.get('/sessions')).status).toBe(200);
  } finally {
    await cold.stop();
  }
});

test('a stream and a WebSocket end when their token expires: 1008', async () => {
  const now = Math.floor(Date.now() / 1000);
  // Clocks may differ by a minute, so the token is valid for another three seconds.
  const token = await bound('brief', { iat: now - 100, exp: now - 57 });
  const session = await one.caller('b', token).post<{ id: string }>('/sessions', {});
  const stream = await TurnStream.open(`${one.b.base}/sessions/${session.body.id}/messages`, token);
  const socket = await SocketClient.open(
    `ws://127.0.0.1:${two.started.ports.b}/ws/sessions/${session.body.id}`,
    { headers: { authorization: `Bearer ${token}` } },
  );
  expect([stream.response.status, stream.ended, socket.closed]).toEqual([200, false, undefined]);
  await eventually(() => expect([stream.ended, socket.closed?.code]).toEqual([true, 1008]), 15_000);
});

test('a change of the issuers holds from the first request after it, also for tokens and streams of before', async () => {
  const own = await configEnv(issuerToml(issuer));
  const gateway = await startTestGateway({ env: own });
  const other = await TestIssuer.open();
  const change = async (toml: string) => {
    await writeFile(own['GATEWAY_CONFIG'] ?? '', toml);
    expect((await gateway.a.post('/config/reload')).status).toBe(200);
  };
  try {
    const staff = await issuer.sign();
    const caller = gateway.caller('b', staff);
    const { body: session } = await caller.post<{ id: string }>('/sessions', {});
    const stream = await TurnStream.open(`${gateway.b.base}/sessions/${session.id}/messages`, staff);
    await change(issuerToml(issuer).replace('preset = "admin"', 'scopes = ["sessions:read"]'));
    expect((await caller.post('/sessions', {})).status).toBe(403);
    expect((await caller.get(`/sessions/${session.id}`)).status).toBe(200);
    await change(issuerToml(other));
    expect((await caller.get('/sessions')).status).toBe(401);
    expect((await gateway.caller('b', await other.sign()).get('/sessions')).status).toBe(200);
    await eventually(() => expect(stream.ended).toBe(true), 15_000);
  } finally {
    await gateway.stop();
    await other.close();
  }
});

describe('`agent-gateway auth deny` refuses within 1.5 s on all replicas', () => {
  const deny = (...args: string[]) =>
    processes.run(['auth', 'deny', '--issuer', issuer.url, ...args], {
      env: { DATABASE_URL: database.url, ...env },
    });
  const hookRow = async (id: string) =>
    (await database.query<{ active: boolean }>('SELECT active FROM hooks WHERE id = $1', [id]))[0]?.active;

  async function made(token: string): Promise<{ hook: string; streams: TurnStream[] }> {
    const caller = one.caller('b', token);
    const hook = await caller.post<{ id: string }>('/hooks', { url: receiver.url('/denied'), events: ['*'] });
    const session = await caller.post<{ id: string }>('/sessions', {});
    expect([hook.status, session.status]).toEqual([201, 201]);
    const streams = await Promise.all(
      [one, two].map(({ b }) => TurnStream.open(`${b.base}/sessions/${session.body.id}/messages`, token)),
    );
    return { hook: hook.body.id, streams };
  }
  const refusedEverywhere = (token: string) =>
    eventually(async () => {
      const answers = await Promise.all([one, two].map((each) => each.caller('b', token).get('/sessions')));
      expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    }, 1500);

  test('and ends what the identity made, of no one else', async () => {
    const [eve, ada] = [await bound('eve'), await bound('ada')];
    const [ofEve, ofAda] = [await made(eve), await made(ada)];
    expect(await deny('--subject', 'eve')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('is denied') as unknown,
    });
    await refusedEverywhere(eve);
    await eventually(() => expect(ofEve.streams.map(({ ended }) => ended)).toEqual([true, true]), 3000);
    expect([await hookRow(ofEve.hook), await hookRow(ofAda.hook)]).toEqual([false, true]);
    expect(ofAda.streams.map(({ ended }) => ended)).toEqual([false, false]);
    expect((await one.caller('b', await bound('eve', { jti: 'another' })).get('/sessions')).status).toBe(401);
    expect((await one.caller('b', ada).get('/sessions')).status).toBe(200);
    for (const stream of ofAda.streams) stream.close();
    const [audited] = await database.query<{ target: string }>(
      `SELECT target FROM audit_entries WHERE action = 'identity.denied'`,
    );
    expect(audited?.target).toBe(userOf('eve'));
  });

  test('--jti ends what that token made, and leaves other tokens of its holder alone', async () => {
    const [leaked, other] = [
      await bound('mallory', { jti: 'leaked' }),
      await bound('mallory', { jti: 'kept' }),
    ];
    const [ofLeaked, ofOther] = [await made(leaked), await made(other)];
    expect((await deny('--jti', 'leaked')).code).toBe(0);
    await refusedEverywhere(leaked);
    await eventually(() => expect(ofLeaked.streams.map(({ ended }) => ended)).toEqual([true, true]), 3000);
    expect([await hookRow(ofLeaked.hook), await hookRow(ofOther.hook)]).toEqual([false, true]);
    expect((await two.caller('b', other).get('/sessions')).status).toBe(200);
    for (const stream of ofOther.streams) stream.close();
  });

  test("and API tokens that it made, in full or with one JWT alone; an erased person's end as well", async () => {
    const token = (jti: string, sub = 'olga') => issuer.sign({ sub, jti });
    const makes = async (jwt: string, name: string) =>
      (await one.adminCaller(jwt).post<{ token: string }>('/tokens', { name, preset: 'viewer' })).body.token;
    const status = async (secret: string) => (await two.caller('b', secret).get('/sessions')).status;
    const [first, second, of] = [
      await makes(await token('first'), 'olga 1'),
      await makes(await token('second'), 'olga 2'),
      await makes(await token('third', 'pavel'), 'pavel'),
    ];
    expect([await status(first), await status(second), await status(of)]).toEqual([200, 200, 200]);
    expect((await deny('--jti', 'first')).code).toBe(0);
    await refusedEverywhere(first);
    expect([await status(second), await status(of)]).toEqual([200, 200]);
    expect((await deny('--subject', 'olga')).code).toBe(0);
    await refusedEverywhere(second);
    expect(await status(of)).toBe(200);
    const erased = await processes.run(['user', 'erase', userOf('pavel'), '--yes'], {
      env: { DATABASE_URL: database.url, GATEWAY_MASTER_KEY: 'a master key that only tests may use', ...env },
    });
    expect([erased.code, erased.stderr]).toEqual([0, expect.stringContaining('deleted')]);
    await refusedEverywhere(of);
    const [{ n } = { n: -1 }] = await database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM api_tokens WHERE maker_family LIKE '%pavel%'`,
    );
    expect(n).toBe(0);
  });
});
