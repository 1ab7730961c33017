import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import { promptly } from '../../harness/promptly.js';

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}
interface Refusal {
  error: { code: string; details: { reason?: string } | null };
}
interface Session {
  id: string;
  user_id: string;
  agent: string;
  status: string;
  running: boolean;
  running_turn_id: string | null;
  turns_waiting: number;
  cost_usd: number | null;
  input_tokens: number;
  metadata: object;
}
interface Turn {
  id: string;
  session_id: string;
  status: string;
  reason: string | null;
  steps: { number: number; kind: string; name?: string; status?: string; tool_calls?: { name: string }[] }[];
  answer: { message_id: string; finish_reason: string | null; incomplete: string | null } | null;
  failover: { model: string; reason: string }[];
  duration_ms: number | null;
}

let gateway: TestGateway;
let other: TestGateway;
beforeAll(async () => {
  const env = {
    GATEWAY__AGENTS__SUPPORT__DESCRIPTION: 'Answers customers',
    GATEWAY__PROVIDERS__GONE__KIND: 'openai',
    GATEWAY__PROVIDERS__GONE__API_KEY: 'key-of-gone-1234',
    GATEWAY__PROVIDERS__GONE__BASE_URL: 'http://127.0.0.1:1/v1',
    GATEWAY__PROVIDERS__GONE__MAX_RETRIES: '0',
    GATEWAY__PROVIDERS__HERE__KIND: 'offline',
    GATEWAY__AGENTS__LOST__MODELS: 'gone/one,here/two',
  };
  gateway = await startTestGateway({ env });
  other = await startTestGateway({ env, database: gateway.database });
  for (const { tools } of [gateway, other]) {
    tools.register({
      name: 'hold',
      description: 'Runs until it is ended.',
      inputSchema: { type: 'object' },
      run: (_args, _context, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    });
    tools.register({
      name: 'greet',
      description: 'Greets.',
      inputSchema: { type: 'object' },
      run: () => Promise.resolve('hello'),
    });
  }
});
afterAll(async () => {
  await other.stop();
  await gateway.stop();
});

async function opened(body: object = {}): Promise<string> {
  return (await gateway.b.post<{ id: string }>('/sessions', body)).body.id;
}
const say = (id: string, content: string, headers = {}) =>
  gateway.b.post(`/sessions/${id}/messages`, { content }, headers);
const ids = async (query: string, caller = gateway.admin) =>
  (await caller.get<Page<Session>>(`/sessions?limit=500&${query}`)).body.items.map(({ id }) => id);

test('"sessions search": by id, user, agent, channel, status and time, newest first', async () => {
  const [one, two] = [
    await opened({ user_id: 'Ada.Lovelace', agent: 'support', metadata: { ticket: 7 } }),
    await opened({ user_id: 'grace' }),
  ];
  expect(await ids('query=lovelace')).toEqual([one]);
  expect(await ids(`query=${two.slice(0, 20)}`)).toContain(two);
  expect(await ids('user=grace')).toEqual([two]);
  expect(await ids('agent=support')).toEqual([one]);
  expect(await ids('channel=api&status=live&since=1h')).toEqual(expect.arrayContaining([two, one]));
  expect(await ids('status=terminated')).toEqual([]);
  expect((await gateway.b.delete(`/sessions/${two}`)).status).toBe(204);
  expect(await ids('status=terminated')).toEqual([two]);
  expect(await ids('since=2100-01-01')).toEqual([]);
  const all = await ids('');
  expect(all.indexOf(two)).toBeLessThan(all.indexOf(one));
  const first = (await gateway.admin.get<Page<Session>>('/sessions?limit=1')).body;
  const next = await gateway.admin.get<Page<Session>>(`/sessions?limit=1&cursor=${first.next_cursor}`);
  expect([first.items[0]?.id, next.body.items[0]?.id]).toEqual([two, one]);
  const foreign = await gateway.admin.get(`/sessions?limit=1&user=grace&cursor=${first.next_cursor}`);
  expect(foreign.status).toBe(400);
  for (const wrong of ['status=gone', 'since=yesterday', `query=${'x'.repeat(513)}`, 'offset=1'])
    expect([wrong, (await gateway.admin.get(`/sessions?${wrong}`)).status]).toEqual([wrong, 400]);
});

test('part of the id of a user is looked for in 50,000 sessions a page, and a page without matches says where to go on', async () => {
  await gateway.database.query(
    `INSERT INTO sessions (id, channel, user_id, status, metadata, created_at)
     SELECT 'sess_many' || n, 'api', CASE n WHEN 50005 THEN 'The Needle' ELSE 'hay' END, 'active', '{}',
       '2026-01-01'::timestamptz - make_interval(secs => n) FROM generate_series(1, 50010) AS n`,
  );
  const pages: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/sessions?query=needle${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { status, body } = await gateway.admin.get<Page<Session>>(path);
    expect(status).toBe(200);
    pages.push(body.items.map(({ id }) => id));
    cursor = body.next_cursor;
  }
  expect(pages).toEqual([[], ['sess_many50005']]);
  expect(await ids('query=sess_many50005')).toEqual(['sess_many50005']);
  await gateway.database.query(`DELETE FROM sessions WHERE id LIKE 'sess\\_many%'`);
}, 60_000);

test('a session and its turns are shown with tool calls, tokens and cost', async () => {
  const id = await opened({ user_id: 'ada' });
  await say(id, '/call greet {}');
  const session = (await gateway.admin.get<Session>(`/sessions/${id}`)).body;
  expect(session).toMatchObject({ user_id: 'ada', running: false, running_turn_id: null, turns_waiting: 0 });
  expect(session.input_tokens).toBeGreaterThan(0);
  const { items } = (await gateway.admin.get<Page<Turn>>(`/turns?session=${id}`)).body;
  expect(items).toMatchObject([{ session_id: id, status: 'completed', reason: null }]);
  const turn = (await gateway.admin.get<Turn>(`/turns/${items[0]!.id}`)).body;
  expect(turn.steps).toMatchObject([
    { number: 1, kind: 'model', tool_calls: [{ name: 'greet' }] },
    { number: 2, kind: 'tool', name: 'greet', status: 'success' },
  ]);
  expect(turn.answer).toMatchObject({ incomplete: null, finish_reason: 'stop' });
  expect(turn.duration_ms).toBeGreaterThanOrEqual(0);
  expect(JSON.stringify(turn)).not.toContain('hello');
  expect((await gateway.admin.get<Page<Turn>>('/turns?status=failed')).body.items).toEqual([]);
  expect((await gateway.admin.get<Page<Turn>>('/turns?user=ada&since=1h')).body.items).toHaveLength(1);
});

test('a turn says which models failed before another one answered', async () => {
  const id = await opened({ agent: 'lost' });
  expect((await say(id, 'Hello')).status).toBe(200);
  await eventually(async () => {
    const [turn] = (await gateway.admin.get<Page<Turn>>(`/turns?session=${id}`)).body.items;
    const { body } = await gateway.admin.get<Turn>(`/turns/${turn!.id}`);
    expect(body.failover).toEqual([{ model: 'gone/one', reason: 'provider_unreachable' }]);
  });
});

test('a turn that runs is cancelled from another replica within a second, and the audit says by whom', async () => {
  const id = await opened();
  const answer = say(id, '/call hold {}');
  let running: string | null = null;
  await eventually(async () => {
    running = (await gateway.admin.get<Session>(`/sessions/${id}`)).body.running_turn_id;
    expect(running).not.toBeNull();
  });
  const waits = await say(id, 'later', { prefer: 'respond-async' });
  expect(waits.status).toBe(202);
  const turns = (await gateway.admin.get<Page<Turn>>(`/turns?session=${id}`)).body.items;
  const waiting = turns.find(({ status }) => status === 'waiting')!;
  const first = await gateway.admin.post(`/turns/${waiting.id}/cancel`);
  expect([first.status, first.body]).toEqual([200, { id: waiting.id, status: 'cancelled' }]);
  await promptly(2000, async () => {
    const cancelled = await other.adminCaller(gateway.token).post(`/turns/${running}/cancel`);
    expect([cancelled.status, cancelled.body]).toMatchObject([200, { id: running }]);
    expect((await answer).status).toBe(409);
  });
  const turn = (await gateway.admin.get<Turn>(`/turns/${running}`)).body;
  expect(turn.status).toBe('cancelled');
  const again = await gateway.admin.post<Refusal>(`/turns/${running}/cancel`);
  expect([again.status, again.body.error.details]).toEqual([409, { reason: 'turn_ended' }]);
  const { items } = (
    await gateway.admin.get<Page<{ subject: string; actor: string }>>('/audit?action=turn.cancelled')
  ).body;
  expect(items.map(({ subject }) => subject)).toEqual([running, waiting.id]);
});

test('"bound callers see their own sessions, turns"; tokens of some agents those of these', async () => {
  const [mine, foreign] = [
    await opened({ user_id: 'mine', agent: 'support' }),
    await opened({ user_id: 'foreign' }),
  ];
  await say(mine, 'Hello');
  await say(foreign, 'Hello');
  const [turn] = (await gateway.admin.get<Page<Turn>>(`/turns?session=${foreign}`)).body.items;
  const bound = gateway.adminCaller(await gateway.mint({ user: 'mine' }));
  expect(await ids('', bound)).toEqual([mine]);
  expect(await ids('user=foreign', bound)).toEqual([]);
  const own = (await bound.get<Page<Turn>>('/turns')).body.items;
  expect(own.map(({ session_id }) => session_id)).toEqual([mine]);
  expect((await bound.get(`/sessions/${foreign}`)).status).toBe(404);
  expect((await bound.get(`/turns/${turn!.id}`)).status).toBe(404);
  expect((await bound.post(`/turns/${turn!.id}/cancel`)).status).toBe(404);
  const support = gateway.adminCaller(await gateway.mint({ agents: ['support'] }));
  expect(await ids('user=mine', support)).toEqual([mine]);
  expect(await ids('user=foreign', support)).toEqual([]);
  expect((await support.get<Page<Turn>>(`/turns?session=${foreign}`)).body.items).toEqual([]);
  expect((await support.get(`/turns/${turn!.id}`)).status).toBe(403);
  expect((await support.get(`/sessions/${foreign}`)).status).toBe(403);
});

test('needs the scope; what does not exist is 404', async () => {
  const writer = gateway.adminCaller(await gateway.mint({ scopes: ['sessions:write'] }));
  const reader = gateway.adminCaller(await gateway.mint({ scopes: ['sessions:read'] }));
  expect((await writer.get('/sessions')).status).toBe(403);
  expect((await writer.get('/turns')).status).toBe(403);
  expect((await reader.post('/turns/turn_x/cancel')).status).toBe(403);
  expect((await writer.post('/turns/turn_x/cancel')).status).toBe(404);
  expect((await reader.get('/turns/turn_x')).status).toBe(404);
  expect((await reader.get('/sessions/sess_x')).status).toBe(404);
});
