import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import { HookReceiver } from '../../harness/hook-receiver.js';
import type { HttpCaller } from '../../harness/http-caller.js';

interface Item {
  readonly id?: string;
  readonly agent?: string;
  readonly user?: string;
  readonly day?: string;
  readonly turns?: number;
}
interface Page {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}
interface Refusal {
  readonly error: { readonly details: { readonly fields?: readonly { readonly path: string }[] } | null };
}

let gateway: TestGateway;
let receiver: HookReceiver;
/** Values that the tables below refer to as `$word`. */
const named: Record<string, string> = {};

beforeAll(async () => {
  receiver = await HookReceiver.open();
  gateway = await startTestGateway({
    env: {
      GATEWAY__AGENTS__SUPPORT__DESCRIPTION: 'Answers customers',
      GATEWAY__AGENTS__LEGAL__DESCRIPTION: 'Reads contracts',
      GATEWAY__CHANNELS_CONFIG__DESK__TYPE: 'webhook',
      GATEWAY__CHANNELS_CONFIG__DESK__SECRET: 'a secret of the desk that is long',
      GATEWAY__CHANNELS_CONFIG__DESK__ALLOWED_USERS: '*',
    },
  });
  receiver.behaviour = ({ path }) => (path === '/bad' ? 500 : 200);
  for (const [hook, path] of [
    ['$hook', '/good'],
    ['$broken', '/bad'],
  ] as const) {
    const wish = { url: receiver.url(path), events: ['session.terminated'] };
    named[hook] = (await gateway.b.post<{ id: string }>('/hooks', wish)).body.id;
  }
  await opened('$ada', { agent: 'support', user_id: 'ada' }, 'Hello');
  await opened('$ben', { agent: 'legal', user_id: 'ben' }, 'Hello');
  await opened('$desk', { agent: 'legal', user_id: 'ada', channel: 'desk' }, 'Hello');
  await opened('$ended', { user_id: 'cleo' });
  expect((await gateway.b.delete(`/sessions/${named['$ended']}`)).status).toBe(204);
  await plantWaiting();
  await eventually(async () => {
    const rows = await gateway.database.query<{ attempts: number }>(`SELECT attempts FROM hook_deliveries`);
    expect(rows.map(({ attempts }) => attempts)).toEqual([1, 1]);
  });
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

/** A session, with a turn when `content` is given. */
async function opened(name: string, body: object, content?: string): Promise<void> {
  const { id } = (await gateway.b.post<{ id: string }>('/sessions', body)).body;
  named[name] = id;
  if (content === undefined) return;
  expect((await gateway.b.post(`/sessions/${id}/messages`, { content })).status).toBe(200);
  const [turn] = await gateway.database.query<{ id: string }>('SELECT id FROM turns WHERE session_id = $1', [
    id,
  ]);
  named[`${name}.turn`] = turn?.id ?? '';
}

/** Inserts a tool call and a question in each state, in Ada's session (support) and Ben's (legal). */
async function plantWaiting(): Promise<void> {
  for (const [who, user, agent] of [
    ['$ada', 'ada', 'support'],
    ['$ben', 'ben', 'legal'],
  ] as const)
    for (const state of ['open', 'done'] as const) {
      const isDone = state === 'done';
      const [approval, question] = [`appr_${user}_${state}`, `ques_${user}_${state}`];
      named[`${who}.${state}.approval`] = approval;
      named[`${who}.${state}.question`] = question;
      await gateway.database.query(
        `INSERT INTO tool_approvals (id, call_id, tool, arguments, session_id, channel, user_id, expires_at, verdict, decided_at)
         VALUES ($1, 'c', 'echo', '{}', $2, 'api', $3, now() + interval '1 hour', ${isDone ? `'allowed', now()` : 'NULL, NULL'})`,
        [approval, named[who], user],
      );
      await gateway.database.query(
        `INSERT INTO tool_questions (id, call_id, tool, session_id, agent, channel, user_id, acts_for, message, schema, expires_at, awaited_until, action, answered_at)
         VALUES ($1, 'c', 'echo', $2, $3, 'api', $4, $4, 'Which?', '{}', now() + interval '1 hour', now() + interval '1 hour', ${isDone ? `'decline', now()` : 'NULL, NULL'})`,
        [question, named[who], agent, user],
      );
    }
}

/** Replaces each `$word` with its value. */
const filled = (text: string): string => text.replace(/\$[\w.]+/g, (word) => named[word] ?? word);

async function ids(caller: HttpCaller, path: string): Promise<readonly (string | undefined)[]> {
  const { status, body } = await caller.get<Page>(filled(path));
  expect([path, status]).toEqual([path, 200]);
  return body.items.map(({ id }) => id);
}

/** Each filter of each list, and the items that remain, newest first. */
const FILTERS: readonly (readonly [string, readonly string[]])[] = [
  ['/sessions?agent=support', ['$ada']],
  ['/sessions?agent=legal', ['$desk', '$ben']],
  ['/sessions?agent=Legal', []],
  ['/sessions?agent=nobody', []],
  ['/sessions?user=ada', ['$desk', '$ada']],
  ['/sessions?channel=desk', ['$desk']],
  ['/sessions?status=terminated', ['$ended']],
  ['/sessions?query=$ben', ['$ben']],
  ['/sessions?agent=legal&user=ada', ['$desk']],
  ['/sessions?agent=support&channel=desk', []],
  ['/sessions?agent=legal&status=live&since=1h', ['$desk', '$ben']],
  ['/sessions?agent=legal&since=2100-01-01', []],
  ['/turns?agent=support', ['$ada.turn']],
  ['/turns?agent=legal', ['$desk.turn', '$ben.turn']],
  ['/turns?agent=nobody', []],
  ['/turns?user=ada', ['$desk.turn', '$ada.turn']],
  ['/turns?session=$ben', ['$ben.turn']],
  ['/turns?status=completed&agent=support', ['$ada.turn']],
  ['/turns?status=failed', []],
  ['/turns?agent=legal&user=ada', ['$desk.turn']],
  ['/turns?agent=legal&since=2100-01-01', []],
  ['/approvals', ['$ben.open.approval', '$ada.open.approval']],
  ['/approvals?status=pending', ['$ben.open.approval', '$ada.open.approval']],
  ['/approvals?status=allowed', ['$ben.done.approval', '$ada.done.approval']],
  ['/approvals?status=denied', []],
  ['/questions', ['$ben.open.question', '$ada.open.question']],
  ['/questions?status=declined', ['$ben.done.question', '$ada.done.question']],
];

/** What the same filters return for a token of the agent `support` only. */
const NARROWED: readonly (readonly [string, readonly string[]])[] = [
  ['/sessions', ['$ada']],
  ['/sessions?agent=support', ['$ada']],
  ['/sessions?agent=legal', []],
  ['/sessions?user=ada', ['$ada']],
  ['/sessions?query=$ben', []],
  ['/turns', ['$ada.turn']],
  ['/turns?agent=legal', []],
  ['/turns?session=$ben', []],
  ['/turns?user=ada', ['$ada.turn']],
  ['/approvals?status=pending', ['$ada.open.approval']],
  ['/approvals?status=allowed', ['$ada.done.approval']],
  ['/questions?status=declined', ['$ada.done.question']],
];

describe.each(['a', 'b'] as const)("lists of the operators' API on the port of Profile %s", (port) => {
  const all = () => gateway.adminCaller(gateway.token, port);

  test.each(FILTERS)('%s', async (path, expected) => {
    expect(await ids(all(), path)).toEqual(expected.map(filled));
  });

  test.each(NARROWED)('%s with a token for `support`', async (path, expected) => {
    const narrow = gateway.adminCaller(await gateway.mint({ agents: ['support'] }), port);
    expect(await ids(narrow, path)).toEqual(expected.map(filled));
  });

  test.each([
    ['/sessions?agent=legal', ['$desk']],
    ['/sessions?user=ben', []],
    ['/turns?agent=legal', ['$desk.turn']],
    ['/turns?user=ben', []],
    ['/approvals?status=pending', ['$ada.open.approval']],
    ['/questions?status=pending', ['$ada.open.question']],
  ] as const)('%s with a token that is bound to Ada', async (path, expected) => {
    const bound = gateway.adminCaller(await gateway.mint({ user: 'ada' }), port);
    expect(await ids(bound, path)).toEqual(expected.map(filled));
  });

  test('deliveries by webhook, status and time', async () => {
    const of = async (query: string) => (await ids(all(), `/deliveries?${query}`)).length;
    expect([await of(''), await of('hook=$hook'), await of('hook=hook_none')]).toEqual([2, 1, 0]);
    const [good] = await ids(all(), '/deliveries?hook=$hook');
    expect(await ids(all(), '/deliveries?status=delivered')).toEqual([good]);
    expect(await of('hook=$broken&status=delivered')).toBe(0);
    expect([await of('since=1h'), await of('since=2100-01-01')]).toEqual([2, 0]);
  });

  test('the audit by actor, action, subject and time, together', async () => {
    const of = async (query: string) => (await ids(all(), `/audit?${query}`)).length;
    const one = 'actor=test&action=session.ended&subject=$ended&since=1h';
    await eventually(async () => expect(await of(one)).toBe(1));
    for (const other of [
      one.replace('actor=test', 'actor=nobody'),
      one.replace('session.ended', 'session.erased'),
      one.replace('$ended', '$ada'),
      one.replace('1h', '2100-01-01'),
    ])
      expect([other, await of(other)]).toEqual([other, 0]);
  });

  test('usage by each dimension, and within days', async () => {
    const usage = async (query: string, caller = all()) =>
      (await caller.get<Page>(`/usage?${query}`)).body.items.map(({ turns, ...row }) => {
        const { agent, user, day, ...more } = row;
        const by = { agent, user, day, ...more } as Record<string, unknown>;
        const dimensions = query.replace(/^by=([a-z_,]*).*/, '$1').split(',');
        return [...dimensions.map((name) => by[name]), turns];
      });
    const today = new Date().toISOString().slice(0, 10);
    expect(await usage('by=agent')).toEqual([
      ['legal', 2],
      ['support', 1],
    ]);
    expect(await usage('by=user')).toEqual([
      ['ada', 2],
      ['ben', 1],
    ]);
    expect(await usage('by=channel')).toEqual([
      ['api', 2],
      ['desk', 1],
    ]);
    expect(await usage('by=api_token')).toEqual([['test', 3]]);
    expect(await usage('by=model')).toEqual([['offline', 3]]);
    expect(await usage('by=day')).toEqual([[today, 3]]);
    expect(await usage('by=channel,agent,user')).toEqual([
      ['api', 'legal', 'ben', 1],
      ['api', 'support', 'ada', 1],
      ['desk', 'legal', 'ada', 1],
    ]);
    expect(await usage(`by=agent&since=${today}&until=${today}`)).toHaveLength(2);
    expect(await usage('by=agent&until=2020-01-01&since=2019-12-31')).toEqual([]);
    const narrow = gateway.adminCaller(await gateway.mint({ agents: ['support'], name: 'narrow' }), port);
    expect(await usage('by=user', narrow)).toEqual([['ada', 1]]);
  });

  test.each(['/sessions?agent=legal', '/turns?agent=legal'])(
    'a cursor of %s belongs to that filter',
    async (path) => {
      const first = (await all().get<Page>(`${path}&limit=1`)).body;
      expect([first.items.length, typeof first.next_cursor]).toEqual([1, 'string']);
      const next = await all().get<Page>(`${path}&limit=1&cursor=${first.next_cursor}`);
      expect([next.status, next.body.items.length, next.body.next_cursor]).toEqual([200, 1, null]);
      expect(next.body.items[0]?.id).not.toBe(first.items[0]?.id);
      const other = path.replace('legal', 'support');
      const foreign = await all().get<Refusal>(`${other}&limit=1&cursor=${first.next_cursor}`);
      expect([foreign.status, foreign.body.error.details?.fields?.[0]?.path]).toEqual([400, 'cursor']);
    },
  );

  test.each([
    ['/sessions?agent=', 'agent'],
    ['/sessions?agent=legal&agent=support', 'agent'],
    [`/sessions?agent=${'x'.repeat(513)}`, 'agent'],
    ['/sessions?api_token=test', 'api_token'],
    ['/turns?agent=', 'agent'],
    ['/turns?status=gone', 'status'],
    ['/turns?token=test', 'token'],
    ['/approvals?status=gone', 'status'],
    ['/approvals?agent=legal', 'agent'],
    ['/questions?status=gone', 'status'],
    ['/deliveries?status=gone', 'status'],
    ['/audit?since=yesterday', 'since'],
    ['/audit?user=ada', 'user'],
    ['/usage?agent=legal', 'agent'],
    ['/usage?by=agent,agent', 'by'],
    ['/agents?agent=legal', 'agent'],
    ['/tokens?agent=legal', 'agent'],
  ])('%s is 400 and names the field', async (path, field) => {
    const { status, body } = await all().get<Refusal>(path);
    expect([status, body.error.details?.fields?.map(({ path: name }) => name)]).toEqual([400, [field]]);
  });

  test('sessions of the contract have no filter by agent: 400, and the agent is in the detail', async () => {
    const caller = gateway.caller(port, gateway.token);
    expect((await caller.get('/sessions?agent=legal')).status).toBe(400);
    const { body } = await caller.get<{ agent: string }>(`/sessions/${named['$ben']}`);
    expect(body.agent).toBe('legal');
  });
});
