import { setTimeout as sleep } from 'node:timers/promises';
import { expectError } from '../contract/support/envelope.js';
import {
  type MessageWire,
  newSession,
  PROFILE_DIFFERENCES,
  PROFILES,
  say,
  sortedKeys,
  type Wire,
} from '../contract/support/faces.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { Answer, HttpCaller } from '../harness/http-caller.js';
import { SocketClient } from '../harness/socket-client.js';
import { TurnStream } from '../harness/turn-stream.js';

/** docs/specification/silences.md, Errors: "past a limit | 429 + `Retry-After` (whole seconds) | rate_limited". */
let gateway: TestGateway;
let other: TestGateway;
/** Ends the tool call of a turn, by its key. */
const release = new Map<string, () => void>();
let atOnce = 0;
let maxAtOnce = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  other = await startTestGateway({ database: gateway.database });
  for (const { tools } of [gateway, other]) {
    tools.register({
      name: 'hold',
      description: 'Holds the turn until the test says so.',
      inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
      run: (args) =>
        new Promise<string>((resolve) => release.set(String(args['key']), () => resolve('done'))),
    });
    tools.register({
      name: 'meet',
      description: 'Counts how many run at once.',
      inputSchema: { type: 'object' },
      run: async () => {
        atOnce += 1;
        maxAtOnce = Math.max(maxAtOnce, atOnce);
        await sleep(20);
        atOnce -= 1;
        return 'met';
      },
    });
  }
});
afterEach(async () => {
  for (const end of release.values()) end();
  release.clear();
  await limit({
    'limits.turns_per_replica': 0,
    'limits.turns_per_api_token': 0,
    'limits.daily_tokens_per_api_token': 0,
    'limits.daily_tokens_per_session': 0,
    'agent.on_busy': 'queue',
    'agent.max_wait_ms': 30_000,
  });
});
afterAll(async () => {
  await other.stop();
  await gateway.stop();
});

interface Limits {
  readonly limits: Record<string, unknown>;
  readonly agent: Record<string, unknown>;
}

/** Changes settings while both replicas run, and waits until both apply them. */
async function limit(keys: Record<string, unknown>): Promise<void> {
  const { status, text } = await gateway.b.patch('/config', keys);
  expect([status, text]).toEqual([200, expect.any(String)]);
  await eventually(async () => {
    const { body } = await other.b.get<Limits>('/config');
    for (const [key, value] of Object.entries(keys)) {
      const [section, name, ...rest] = key.split('.') as ['limits' | 'agent', string, ...string[]];
      if (rest.length === 0) expect(body[section][name]).toEqual(value);
      else expect(JSON.stringify(body.limits['api_tokens'])).toContain(String(value));
    }
  });
}

/** A new session whose turn runs until it is released. */
async function holding(
  key: string,
  caller: HttpCaller,
): Promise<{ id: string; answer: Promise<Answer<MessageWire>> }> {
  const id = await newSession(caller);
  const answer = say(caller, id, `/call hold {"key":"${key}"}`);
  await eventually(() => expect(release.has(key)).toBe(true));
  return { id, answer };
}

function expectLimit(profile: 'a' | 'b', answer: Answer, reason: string, sentence: RegExp): number {
  const error = expectError(profile, answer, 429, 'rate_limited');
  if (profile === 'b') expect(error.details).toEqual({ reason });
  expect(error.message).toMatch(sentence);
  const retryAfter = answer.headers.get('retry-after') ?? '';
  expect(retryAfter).toMatch(/^[1-9]\d*$/);
  return Number(retryAfter);
}

async function refusals(reason: string): Promise<number> {
  const { text } = await gateway.operations.get('/metrics');
  const line = text
    .split('\n')
    .find((one) => one.startsWith(`agent_gateway_turns_refused_total{reason="${reason}"}`));
  return Number(line?.split(' ')[1]);
}

test.each(PROFILES)(
  'a session that has used its tokens of the day is 429 in %s, its usage is visible, and others go on',
  async (profile) => {
    const caller = gateway[profile];
    const id = await newSession(caller);
    expect(sortedKeys((await caller.get(`/sessions/${id}`)).body)).toEqual(
      PROFILE_DIFFERENCES[profile].detail,
    );
    await limit({ 'limits.daily_tokens_per_session': 5 });
    const before = await refusals('session_budget');
    const first = await say(caller, id, 'How many tokens may this take?');
    expect([first.status, first.body.tokens_used > 5]).toEqual([200, true]);

    const { body } = await caller.get<{ token_budget: Wire }>(`/sessions/${id}`);
    expect(body.token_budget).toEqual({ limit: 5, used: first.body.tokens_used, resets_at: midnight() });
    const second = await say(caller, id, 'And another one?');
    const wait = expectLimit(
      profile,
      second,
      'session_budget',
      /session has used \d+ of its 5 model tokens for today/,
    );
    expect(wait).toBeLessThanOrEqual(86_400);
    expect(Math.abs(Date.now() + wait * 1000 - Date.parse(midnight()))).toBeLessThan(5000);
    expect(
      (await caller.get<{ messages: unknown[] }>(`/sessions/${id}/messages`)).body.messages,
    ).toHaveLength(2);
    expect(await refusals('session_budget')).toBe(before + 1);
    expect((await say(caller, await newSession(caller), 'Others?')).status).toBe(200);

    await limit({ 'limits.daily_tokens_per_session': 0 });
    expect((await say(caller, id, 'And now?')).status).toBe(200);
    expect(sortedKeys((await caller.get(`/sessions/${id}`)).body)).toEqual(
      PROFILE_DIFFERENCES[profile].detail,
    );
  },
);

test('the same over events, over a WebSocket, and for a caller who does not wait', async () => {
  const id = await newSession(gateway.b);
  expect((await say(gateway.b, id, 'Something')).status).toBe(200);
  await limit({ 'limits.daily_tokens_per_session': 1 });
  const url = `http://127.0.0.1:${gateway.started.ports.b}/api/v1/sessions/${id}/messages`;
  const stream = await TurnStream.open(url, gateway.token, { body: { content: 'More' } });
  expect([stream.response.status, stream.response.headers.get('content-type')]).toEqual([
    429,
    'application/json; charset=utf-8',
  ]);
  const later = await gateway.b.post(
    `/sessions/${id}/messages`,
    { content: 'More' },
    { prefer: 'respond-async' },
  );
  expectLimit('b', later, 'session_budget', /today/);
  for (const profile of PROFILES) {
    const socket = await SocketClient.open(
      `ws://127.0.0.1:${gateway.started.ports[profile]}/ws/sessions/${id}`,
      {
        headers: { authorization: `Bearer ${gateway.token}` },
      },
    );
    socket.send({ type: 'message', content: 'More' });
    const { error } = (await socket.until('error')) as unknown as { error: Wire };
    const envelope = { code: 'rate_limited', message: expect.stringContaining('for today') as unknown };
    expect(error).toEqual(
      profile === 'a' ? envelope : { ...envelope, details: { reason: 'session_budget' } },
    );
    socket.socket.terminate();
  }
});

test('a budget is of the day: what was used yesterday does not count', async () => {
  await limit({ 'limits.daily_tokens_per_session': 1, 'limits.daily_tokens_per_api_token': 1 });
  const caller = gateway.caller('b', await gateway.mint({ name: 'yesterday' }));
  const id = await newSession(caller);
  expect((await say(caller, id, 'One')).status).toBe(200);
  expectLimit('b', await say(caller, id, 'Two'), 'session_budget', /today/);
  await gateway.database.query(`UPDATE sessions SET spent_on = spent_on - 1 WHERE id = $1`, [id]);
  expectLimit(
    'b',
    await say(caller, id, 'Two'),
    'api_token_budget',
    /API token has used \d+ of its 1 model tokens/,
  );
  await gateway.database.query(`UPDATE token_spending SET day = day - 1`);
  expect((await say(caller, id, 'Two')).status).toBe(200);
});

test('the budget of an API token holds over replicas and sessions, for this token alone', async () => {
  const caller = (on: TestGateway, secret: string) => on.caller('a', secret);
  const spender = await gateway.mint({ name: 'spender' });
  const saver = await gateway.mint({ name: 'saver' });
  expect(
    (await say(caller(gateway, spender), await newSession(gateway.a), 'Before there was a budget')).status,
  ).toBe(200);
  await limit({ 'limits.api_tokens.spender.daily_tokens': 3 });
  const id = await newSession(caller(other, spender));
  expectLimit(
    'a',
    await say(caller(other, spender), id, 'One more'),
    'api_token_budget',
    /of its 3 model tokens/,
  );
  expect((await say(caller(other, saver), id, 'Another token')).status).toBe(200);
  await limit({ 'limits.api_tokens.spender.daily_tokens': 1_000_000 });
  expect((await say(caller(other, spender), id, 'One more')).status).toBe(200);
});

test('what a cancelled turn had used counts', async () => {
  await limit({ 'limits.daily_tokens_per_api_token': 1 });
  const caller = gateway.caller('b', await gateway.mint({ name: 'cancels' }));
  const { id, answer } = await holding('cancelled', caller);
  expect((await caller.delete(`/sessions/${id}`)).status).toBe(204);
  expect((await answer).status).toBe(409);
  expectLimit('b', await say(caller, await newSession(caller), 'Next'), 'api_token_budget', /today/);
});

test('an API token may run a limited number of turns at once over all replicas; the next one is 429 until one ends', async () => {
  await limit({ 'limits.turns_per_api_token': 1 });
  const [one, two] = ['b' as const, 'a' as const];
  const secret = await gateway.mint({ name: 'one at a time' });
  const { id, answer } = await holding('first', gateway.caller(one, secret));
  const elsewhere = other.caller(two, secret);
  const second = await newSession(elsewhere);
  const refused = await say(elsewhere, second, 'Me too');
  expect(expectLimit('a', refused, 'api_token_turns', /has 1 turn running/)).toBe(1);
  expect((await say(other.b, await newSession(other.b), 'Another token')).status).toBe(200);
  // A message to the same session waits, as it does without a limit.
  const inLine = say(elsewhere, id, 'After you');
  await eventually(async () => expect(await waiting(id)).toBe(1));
  release.get('first')?.();
  expect((await answer).status).toBe(200);
  expect((await inLine).status).toBe(200);
  expect((await say(elsewhere, second, 'Me too')).status).toBe(200);
});

test('many at once over two replicas are never more than the API token may have', async () => {
  await limit({ 'limits.turns_per_api_token': 3 });
  maxAtOnce = 0;
  const secret = await gateway.mint({ name: 'many' });
  const callers = Array.from({ length: 30 }, (_, index) =>
    (index % 2 === 0 ? gateway : other).caller('b', secret),
  );
  const answers = await Promise.all(
    callers.map(async (caller) => say(caller, await newSession(caller), '/call meet {}')),
  );
  const statuses = new Set(answers.map(({ status }) => status));
  expect([...statuses].sort()).toEqual([200, 429]);
  expect(maxAtOnce).toBeLessThanOrEqual(3);
  expect((await say(gateway.caller('b', secret), await newSession(gateway.b), '/call meet {}')).status).toBe(
    200,
  );
});

test('accepted messages of an API token at its limit, however many, hold up no other token', async () => {
  const flood = gateway.caller('b', await gateway.mint({ name: 'flood' }));
  const accept = async (caller: HttpCaller, id: string, content: string): Promise<void> => {
    const sent = await caller.post(`/sessions/${id}/messages`, { content }, { prefer: 'respond-async' });
    expect(sent.status).toBe(202);
  };
  const flooded: string[] = [];
  for (let n = 0; n < 52; n += 1) {
    const id = await newSession(flood);
    flooded.push(id);
    await accept(flood, id, `/call hold {"key":"begun ${n}"}`);
    await accept(flood, id, `/call hold {"key":"accepted ${n}"}`);
  }
  await limit({ 'limits.turns_per_api_token': 1 });
  const heldNow = (): number => [...release.keys()].filter((key) => key.startsWith('accepted')).length;
  await eventually(() => expect(release.size).toBe(52));
  for (const end of release.values()) end();
  await eventually(() => expect(heldNow()).toBe(1));
  const caller = gateway.caller('b', await gateway.mint({ name: 'another' }));
  const { id, answer } = await holding('another', caller);
  await accept(caller, id, 'Hello');
  release.get('another')?.();
  expect((await answer).status).toBe(200);
  const answered = async (): Promise<void> => {
    const { body } = await caller.get<{ messages: { role: string }[] }>(`/sessions/${id}/messages`);
    expect(body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(heldNow()).toBe(1);
  };
  await eventually(answered).finally(() =>
    Promise.all(flooded.map((one) => flood.delete(`/sessions/${one}`))),
  );
});

test('the place of a turn whose replica is lost is free once its lease is closed', async () => {
  await limit({ 'limits.turns_per_api_token': 1 });
  const caller = gateway.caller('b', await gateway.mint({ name: 'lost' }));
  const { id, answer } = await holding('lost', caller);
  const next = await newSession(caller);
  expect((await say(caller, next, 'Next')).status).toBe(429);
  await gateway.database.query(
    `UPDATE sessions SET turn_owner = 'a killed replica', turn_lease_until = now() - interval '1 s' WHERE id = $1`,
    [id],
  );
  await eventually(async () => expect((await say(caller, next, 'Next')).status).toBe(200));
  release.get('lost')?.();
  expect((await answer).status).toBe(503);
});

test('a replica runs a limited number of turns; as many again wait for a place, the next is 429, and every end frees one', async () => {
  await limit({ 'limits.turns_per_replica': 1 });
  const first = await holding('completes', gateway.b);
  const id = await newSession(gateway.a);
  const answer = say(gateway.a, id, '/call hold {"key":"is deleted"}');
  await eventually(async () => expect(await waiting(id)).toBe(1));
  const third = await newSession(gateway.b);
  expectLimit('b', await say(gateway.b, third, 'Too many'), 'replica_turns', /as many turns as it may \(1\)/);
  expect(release.has('is deleted')).toBe(false);
  expect((await say(other.b, await newSession(other.b), 'Another replica')).status).toBe(200);

  release.get('completes')?.();
  expect((await first.answer).status).toBe(200);
  await eventually(() => expect(release.has('is deleted')).toBe(true));
  const waits = say(gateway.b, third, 'Now?');
  await eventually(async () => expect(await waiting(third)).toBe(1));
  expect((await gateway.b.delete(`/sessions/${id}`)).status).toBe(204);
  expect((await answer).status).toBe(409);
  expect((await waits).status).toBe(200);
  expect((await say(gateway.b, third, 'And again')).status).toBe(200);
});

test('a message that waits for a place is 429 when the wait is over, and at once where none may wait', async () => {
  await limit({ 'limits.turns_per_replica': 1, 'agent.max_wait_ms': 300 });
  const { id, answer } = await holding('stays', gateway.b);
  const began = performance.now();
  const free = await newSession(gateway.b);
  expectLimit('b', await say(gateway.b, free, 'Patient'), 'replica_turns', /as many turns as it may/);
  expect(performance.now() - began).toBeGreaterThan(290);
  // In the queue of a busy session, the session's own waiting time applies.
  expectError('b', await say(gateway.b, id, 'In line'), 409, 'conflict');
  await limit({ 'agent.on_busy': 'reject' });
  expectLimit('b', await say(gateway.b, free, 'Impatient'), 'replica_turns', /as many turns as it may/);
  // A raised limit lets the next one in although the turn still runs.
  await limit({ 'limits.turns_per_replica': 2 });
  expect((await say(gateway.b, free, 'Now')).status).toBe(200);
  release.get('stays')?.();
  expect((await answer).status).toBe(200);
});

async function waiting(id: string): Promise<number> {
  const sql = `SELECT count(*)::int AS n FROM turns WHERE session_id = $1 AND status = 'waiting'`;
  return (await gateway.database.query<{ n: number }>(sql, [id]))[0]?.n ?? -1;
}

function midnight(): string {
  return new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString();
}
