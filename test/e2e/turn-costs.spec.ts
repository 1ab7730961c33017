import {
  anthropicEnv,
  type CountedAnswer,
  type CountedCall,
  type CountingProvider,
  startCountingProvider,
} from '../harness/counting-provider.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { TurnStream } from '../harness/turn-stream.js';

/** docs/money.md: a turn costs what the provider counted, however it ends and whatever its calls were for. */
const PRICE = { input: 10, cached_input: 1, cache_write: 12.5, output: 50 };

let gateway: TestGateway;
let provider: CountingProvider;
/** Chooses the next answer by the request body, as text. */
let next: (sent: string) => CountedAnswer;

beforeAll(async () => {
  provider = await startCountingProvider((body) => next(JSON.stringify(body)));
  gateway = await startTestGateway({ env: anthropicEnv(provider) });
  await set({ 'prices."default/m"': PRICE });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

async function set(keys: Record<string, unknown>): Promise<void> {
  const { status, text } = await gateway.b.patch('/config', keys);
  expect([status, text]).toEqual([200, expect.any(String)]);
}

async function session(user: string): Promise<string> {
  return (await gateway.b.post<{ id: string }>('/sessions', { user_id: user })).body.id;
}

const say = (id: string, content: string, more: object = {}) =>
  gateway.b.post(`/sessions/${id}/messages`, { content, ...more });

interface Billed {
  readonly status: string;
  readonly turns: number;
  readonly input: number;
  readonly output: number;
  readonly cost: number | null;
}

/** The usage of a user with one turn. Checks it against the turn's row. */
async function billed(user: string): Promise<Billed> {
  const [turn] = await gateway.database.query<Billed>(
    `SELECT turns.status, 1 AS turns, turns.input_tokens::int AS input, turns.output_tokens::int AS output, cost_usd::float8 AS cost
     FROM turns JOIN sessions ON sessions.id = session_id WHERE user_id = $1`,
    [user],
  );
  const { body } = await gateway.admin.get<{ items: Record<string, number>[] }>('/usage?by=user&limit=500');
  const row = body.items.find((one) => (one['user'] as unknown) === user);
  expect([row?.['turns'], row?.['input_tokens'], row?.['output_tokens'], row?.['cost_usd']]).toEqual([
    ...[turn?.turns, turn?.input, turn?.output, turn?.cost],
  ]);
  return turn as Billed;
}

/** The cost by the provider's own books. */
function costOf(calls: readonly Required<CountedCall>[]) {
  const sum = (part: (call: Required<CountedCall>) => number) =>
    calls.reduce((all, call) => all + part(call), 0);
  const input = sum(({ plain, read, written }) => plain + read + written);
  const millionths = sum(
    ({ plain, read, written, output }) =>
      plain * PRICE.input + read * PRICE.cached_input + written * PRICE.cache_write + output * PRICE.output,
  );
  return {
    turns: 1,
    input,
    output: sum(({ output }) => output),
    cost: expect.closeTo(millionths / 1e6, 10) as number,
  };
}

/** Asks for a tool in the first two calls, then gives this answer. */
function afterTwoCalls(last: CountedAnswer): void {
  let calls = 0;
  next = () => {
    calls += 1;
    return calls > 2 ? last : { plain: 1000, read: 300, written: 70, output: 11 * calls, tool: 'nothing' };
  };
}

test('a turn whose provider fails costs what the calls before it were counted as', async () => {
  afterTwoCalls({ plain: 0, output: 0, status: 400 });
  const from = provider.counted.length;
  expect((await say(await session('fails'), 'Hello')).status).toBe(502);
  const counted = provider.counted.slice(from);
  expect(counted).toHaveLength(2);
  expect(await billed('fails')).toEqual({ status: 'failed', ...costOf(counted) });
});

test('a turn that is cancelled before its call is answered costs what the calls before it were counted as', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  afterTwoCalls({ plain: 5000, output: 5000, when: held });
  const from = provider.counted.length;
  const id = await session('cancelled');
  const requests = provider.requests.length;
  const answer = say(id, 'Hello');
  await eventually(() => expect(provider.requests).toHaveLength(requests + 3));
  expect((await gateway.b.delete(`/sessions/${id}`)).status).toBe(204);
  expect((await answer).status).toBe(409);
  release();
  const counted = provider.counted.slice(from);
  expect(counted).toHaveLength(2);
  expect(await billed('cancelled')).toEqual({ status: 'cancelled', ...costOf(counted) });
});

test('one that is cancelled in the middle of an answer costs the input that was counted, too, and an estimate of what was said', async () => {
  afterTwoCalls({ plain: 5000, output: 0, text: 'Four words, no more', stalls: true });
  const from = provider.counted.length;
  const id = await session('broken off');
  const url = `http://127.0.0.1:${gateway.started.ports.b}/api/v1/sessions/${id}/messages`;
  const stream = await TurnStream.open(url, gateway.token, { body: { content: 'Hello' } });
  await eventually(() => expect(stream.said()).toContain('Four words'));
  expect((await gateway.b.delete(`/sessions/${id}`)).status).toBe(204);
  await eventually(() => expect(stream.ended).toBe(true));
  const counted = provider.counted.slice(from);
  const { input, output, cost } = await billed('broken off');
  expect(input).toBe(costOf(counted).input + 5000);
  const estimated = output - costOf(counted).output;
  expect(estimated).toBeGreaterThan(0);
  expect(estimated).toBeLessThan(20);
  const known = counted.concat({ plain: 5000, read: 0, written: 0, output: estimated });
  expect(cost).toEqual(costOf(known).cost);
});

const SHORT_CONTEXT = { 'agent.context_tokens': 8000, 'agent.max_output_tokens': 800 };

/** A session whose history is too long for the model. */
async function longSession(user: string): Promise<string> {
  await set(SHORT_CONTEXT);
  const id = await session(user);
  await gateway.database.query(
    `WITH said AS (
       INSERT INTO messages (id, session_id, turn_id, seq, role, content)
       SELECT 'msg_' || $1::text || n, $1, 'turn_' || $1 || (n + 1) / 2, n,
         CASE WHEN n % 2 = 1 THEN 'user' ELSE 'assistant' END, 'Message ' || n || repeat(' and so on', 5)
       FROM generate_series(1, 400) AS n)
     UPDATE sessions SET message_count = 400 WHERE id = $1`,
    [id],
  );
  return id;
}

test('the calls that summarise a long conversation cost what they were counted as, with the turn that made them', async () => {
  let number = 0;
  next = (sent) => {
    number += 1;
    return sent.includes('You sum up')
      ? { plain: 3000 + number, read: 100, output: 200 + number, text: 'They greeted each other.' }
      : { plain: 1500, output: 20 };
  };
  const id = await longSession('long');
  const [from, requests] = [provider.counted.length, provider.requests.length];
  expect((await say(id, 'And now?')).status).toBe(200);
  const summaries = provider.requests.slice(requests).filter(({ text }) => text.includes('You sum up'));
  expect(summaries.length).toBeGreaterThan(0);
  const counted = provider.counted.slice(from);
  expect(counted).toHaveLength(summaries.length + 1);
  expect(await billed('long')).toEqual({ status: 'completed', ...costOf(counted) });
  await set({ 'agent.context_tokens': null, 'agent.max_output_tokens': null });
});

test('a summary that could not be written costs what it was counted as, too', async () => {
  next = (sent) =>
    sent.includes('You sum up') ? { plain: 3000, output: 1, text: ' ' } : { plain: 1500, output: 20 };
  const id = await longSession('no summary');
  const from = provider.counted.length;
  expect((await say(id, 'And now?')).status).toBe(200);
  const counted = provider.counted.slice(from);
  expect(counted.length).toBeGreaterThan(1);
  expect(await billed('no summary')).toEqual({ status: 'completed', ...costOf(counted) });
  await set({ 'agent.context_tokens': null, 'agent.max_output_tokens': null });
});

const schema = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } };
const asked = { response_format: { type: 'json_schema', json_schema: { name: 'reply', schema } } };

test.each([
  ['repaired', '{"city":"Oslo"}', 200, 'completed'],
  ['not repaired', 'No.', 502, 'failed'],
])('an answer out of format that is %s costs both of its calls', async (user, second, status, ended) => {
  next = (sent) =>
    sent.includes('does not fit the format')
      ? { plain: 1200, read: 800, output: 9, text: second }
      : { plain: 1000, written: 800, output: 7, text: '{"town":1}' };
  const from = provider.counted.length;
  expect((await say(await session(user), 'Where?', asked)).status).toBe(status);
  const counted = provider.counted.slice(from);
  expect(counted).toHaveLength(2);
  expect(await billed(user)).toEqual({ status: ended, ...costOf(counted) });
});
