import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { Answer } from '../harness/http-caller.js';
import { expectError } from './support/envelope.js';
import { type HistoryWire, type MessageWire, newSession, PROFILES, say, type Wire } from './support/faces.js';

let gateway: TestGateway;
let rejecting: TestGateway;
/** Ends the tool call that a session waits for, by its key. */
const release = new Map<string, () => void>();
const aborted: string[] = [];

beforeAll(async () => {
  gateway = await startTestGateway();
  rejecting = await startTestGateway({
    database: gateway.database,
    env: { GATEWAY__AGENT__ON_BUSY: 'reject' },
  });
  for (const { tools } of [gateway, rejecting]) {
    tools.register({
      name: 'wait',
      description: 'Waits until the test says so.',
      inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
      run: (args, _context, signal) => {
        const key = String(args['key']);
        signal.addEventListener('abort', () => aborted.push(key));
        return new Promise<string>((resolve) => release.set(key, () => resolve('done')));
      },
    });
  }
});
afterAll(async () => {
  await rejecting.stop();
  await gateway.stop();
});

/** Polls until `holds` returns true. The test's own time-out limits it. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A session whose turn hangs in a tool call until it is released. */
async function busySession(
  key: string,
  on = gateway,
): Promise<{ id: string; answer: Promise<Answer<MessageWire>> }> {
  const id = await newSession(on.a);
  const answer = say(on.a, id, `/call wait {"key":"${key}"}`);
  await until(() => release.has(key));
  return { id, answer };
}

async function waitingIn(id: string): Promise<number> {
  const sql = `SELECT count(*)::int AS n FROM turns WHERE session_id = $1 AND status = 'waiting'`;
  return (await gateway.database.query<{ n: number }>(sql, [id]))[0]?.n ?? -1;
}

async function contentsOf(id: string): Promise<string[]> {
  const { body } = await gateway.a.get<HistoryWire>(`/sessions/${id}/messages`);
  return body.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
}

test('messages to a busy session wait in arrival order, at most 8; the 9th is 409 with Retry-After and its reason', async () => {
  const { id, answer } = await busySession('line');
  const waiting: Promise<Answer<MessageWire>>[] = [];
  for (let i = 0; i < 8; i++) {
    waiting.push(say(i % 2 === 0 ? gateway.a : gateway.b, id, `waiting ${i}`));
    await until(async () => (await waitingIn(id)) === i + 1);
  }
  const ninth = await say(gateway.b, id, 'one too many');
  const error = expectError('b', ninth, 409, 'conflict');
  expect(error.details).toEqual({ reason: 'turn_in_progress' });
  expect(ninth.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  const inA = await say(gateway.a, id, 'one too many');
  expectError('a', inA, 409, 'conflict');
  expect(inA.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(await contentsOf(id)).toEqual(['/call wait {"key":"line"}']);
  release.get('line')?.();
  expect((await Promise.all([answer, ...waiting])).map(({ status }) => status)).toEqual(Array(9).fill(200));
  const expected = ['/call wait {"key":"line"}', ...Array.from({ length: 8 }, (_, i) => `waiting ${i}`)];
  expect(await contentsOf(id)).toEqual(expected);
  const detail = await gateway.a.get<Wire>(`/sessions/${id}`);
  expect(detail.body['message_count']).toBe(18);
});

test('agent.on_busy = "reject" | a message to a busy session is 409 at once', async () => {
  const { id, answer } = await busySession('reject', rejecting);
  const refused = await say(rejecting.b, id, 'too early');
  const error = expectError('b', refused, 409, 'conflict');
  expect(error.details).toEqual({ reason: 'turn_in_progress' });
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  release.get('reject')?.();
  expect((await answer).status).toBe(200);
  expect((await say(rejecting.b, id, 'now')).status).toBe(200);
  expect(await contentsOf(id)).toEqual(['/call wait {"key":"reject"}', 'now']);
});

test.each(PROFILES)(
  'DELETE during a turn aborts it, and those who wait are told, in Profile %s',
  async (profile) => {
    const key = `delete-${profile}`;
    const { id, answer } = await busySession(key);
    const behind = say(gateway[profile], id, 'still waiting');
    await until(async () => (await waitingIn(id)) === 1);
    expect((await gateway[profile].delete(`/sessions/${id}`)).status).toBe(204);
    const cancelled = expectError('a', await answer, 409, 'conflict');
    expect(cancelled.message).toContain('ended');
    const told = expectError(profile, await behind, 409, 'conflict');
    if (profile === 'b') expect(told.details).toEqual({ reason: 'session_ended' });
    expect(aborted).toContain(key);
    expect(await contentsOf(id)).toEqual([`/call wait {"key":"${key}"}`]);
    const turns = await gateway.database.query('SELECT status FROM turns WHERE session_id = $1', [id]);
    expect(turns).toEqual([{ status: 'cancelled' }]);
  },
);

test('DELETE through another replica aborts the turn as well', async () => {
  const { id, answer } = await busySession('elsewhere');
  expect((await rejecting.b.delete(`/sessions/${id}`)).status).toBe(204);
  expectError('a', await answer, 409, 'conflict');
  expect(aborted).toContain('elsewhere');
});

test('the user message is in the history before the provider has answered', async () => {
  const { id, answer } = await busySession('stored');
  expect(await contentsOf(id)).toEqual(['/call wait {"key":"stored"}']);
  const detail = await gateway.b.get<Wire>(`/sessions/${id}`);
  expect(detail.body).toMatchObject({ status: 'active', turn_count: 1 });
  release.get('stored')?.();
  expect((await answer).status).toBe(200);
});

test('a session with a running turn never times out', async () => {
  const { id, answer } = await busySession('long');
  await gateway.database.query(
    `UPDATE sessions SET created_at = now() - interval '1 day', last_activity = now() - interval '1 day' WHERE id = $1`,
    [id],
  );
  const detail = await gateway.b.get<Wire>(`/sessions/${id}`);
  expect(detail.body['status']).toBe('active');
  release.get('long')?.();
  expect((await answer).status).toBe(200);
});

test('a client that goes away does not cancel its turn', async () => {
  const id = await newSession(gateway.a);
  const abort = new AbortController();
  const gone = fetch(`${gateway.a.base}/sessions/${id}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: '/call wait {"key":"gone"}' }),
    signal: abort.signal,
  });
  const rejected = expect(gone).rejects.toThrow('abort');
  await until(() => release.has('gone'));
  abort.abort();
  await rejected;
  release.get('gone')?.();
  await until(async () => {
    const { body } = await gateway.a.get<HistoryWire>(`/sessions/${id}/messages`);
    return body.messages.length === 2;
  });
  expect(aborted).not.toContain('gone');
});
