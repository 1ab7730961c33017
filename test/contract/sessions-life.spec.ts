import type { ProfileId } from '../../src/http/profiles/profile.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { expectError } from './support/envelope.js';
import {
  type HistoryWire,
  ISO_UTC,
  makeQuiet,
  newSession,
  PROFILE_DIFFERENCES,
  PROFILES,
  type SessionListWire,
  say,
  sortedKeys,
  type Wire,
} from './support/faces.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const UNKNOWN_IDS = [
  'sess_01jd8v3q5ze0psx2w9t6m4k7ah',
  'nonsense',
  'msg_01jd8v3q5ze0psx2w9t6m4k7ah',
  '%F0%9F%9C%81',
  'a%2Fb',
];

async function statusesOf(id: string): Promise<unknown[]> {
  const answers = await Promise.all(PROFILES.map((profile) => gateway[profile].get<Wire>(`/sessions/${id}`)));
  return answers.map(({ body }) => body['status']);
}

describe.each([
  ['4.1 | GET | /sessions/:id | none | 200; session detail', 'a'],
  ['4.2 | GET | /sessions/:id | none | 200; session detail', 'b'],
] as const)('%s', (_row, profile) => {
  const face = PROFILE_DIFFERENCES[profile];

  test('200; session detail: exactly the fields of the table', async () => {
    const id = await newSession(gateway[profile]);
    const { status, body } = await gateway[profile].get<Wire>(`/sessions/${id}`);
    expect(status).toBe(200);
    expect(sortedKeys(body)).toEqual(face.detail);
    expect(body).toMatchObject({ [face.idKey]: id, channel: 'api', status: 'active' });
    expect(body['created_at']).toMatch(ISO_UTC);
  });

  test.each(UNKNOWN_IDS)('404 for what is no session: %s', async (id) => {
    expectError(profile, await gateway[profile].get(`/sessions/${id}`), 404, 'not_found');
    expectError(profile, await gateway[profile].delete(`/sessions/${id}`), 404, 'not_found');
    expectError(profile, await gateway[profile].get(`/sessions/${id}/messages`), 404, 'not_found');
    expectError(profile, await say(gateway[profile], id, 'Hello'), 404, 'not_found');
  });
});

describe.each([
  ['4.1 | DELETE | /sessions/:id | none | 204, no body', 'a'],
  ['4.2 | DELETE | /sessions/:id | none | 204, no body', 'b'],
] as const)('%s', (_row, profile) => {
  test('204, no body; the session stays readable, in both profiles as ended', async () => {
    const id = await newSession(gateway[profile]);
    const said = await say(gateway[profile], id, 'Hello');
    expect(said.status).toBe(200);
    const gone = await gateway[profile].delete(`/sessions/${id}`);
    expect([gone.status, gone.text, gone.headers.get('content-type')]).toEqual([204, '', null]);
    expect(await statusesOf(id)).toEqual(['completed', 'terminated']);
    const history = await gateway[profile].get<HistoryWire>(`/sessions/${id}/messages`);
    expect(history.body.messages).toHaveLength(2);
  });

  test('3 | terminated | DELETE sessions/:id | session already terminated | unchanged | 409 conflict is the documented example of a state conflict', async () => {
    const id = await newSession(gateway[profile]);
    await gateway[profile].delete(`/sessions/${id}`);
    const error = expectError(profile, await gateway[profile].delete(`/sessions/${id}`), 409, 'conflict');
    if (profile === 'b') expect(error.details).toEqual({ reason: 'session_ended' });
    const other = profile === 'a' ? 'b' : 'a';
    expectError(other, await gateway[other].delete(`/sessions/${id}`), 409, 'conflict');
    expect(await statusesOf(id)).toEqual(['completed', 'terminated']);
  });

  test('of many DELETE at once exactly one is 204, the others are 409', async () => {
    const id = await newSession(gateway[profile]);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => gateway[profile].delete(`/sessions/${id}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array<number>(7).fill(409)]);
  });

  test('a message to an ended session is 409 and is not stored', async () => {
    const id = await newSession(gateway[profile]);
    await gateway[profile].delete(`/sessions/${id}`);
    const error = expectError(profile, await say(gateway[profile], id, 'Are you there?'), 409, 'conflict');
    if (profile === 'b') expect(error.details).toEqual({ reason: 'session_ended' });
    const history = await gateway[profile].get<HistoryWire>(`/sessions/${id}/messages`);
    expect(history.body).toEqual({ messages: [], has_more: false });
  });

  test('3 | active (or other live state) | DELETE sessions/:id | session exists | terminated (Profile B) | 204, no body', async () => {
    const [active, idle] = [await newSession(gateway[profile]), await newSession(gateway[profile])];
    await makeQuiet(gateway, idle, 400);
    expect(await statusesOf(active)).toEqual(['active', 'active']);
    expect(await statusesOf(idle)).toEqual(['active', 'idle']);
    for (const id of [active, idle]) {
      const { status, text } = await gateway[profile].delete(`/sessions/${id}`);
      expect([status, text]).toEqual([204, '']);
      expect(await statusesOf(id)).toEqual(['completed', 'terminated']);
    }
  });

  test('a session that time has ended cannot be deleted', async () => {
    const ended = await newSession(gateway[profile]);
    await makeQuiet(gateway, ended, 4000);
    expectError(profile, await gateway[profile].delete(`/sessions/${ended}`), 409, 'conflict');
  });
});

test.each<[row: string, profile: ProfileId, filters: [query: string, words: string[]][]]>([
  [
    '3 | Session, Profile A | active, completed (list filter also accepts all)',
    'a',
    [
      ['', ['active', 'active']],
      ['?status=active', ['active', 'active']],
      ['?status=completed', ['completed']],
      ['?status=all', ['completed', 'active', 'active']],
    ],
  ],
  [
    '3 | Session, Profile B | active, idle, terminated',
    'b',
    [
      ['', ['active']],
      ['?status=active', ['active']],
      ['?status=idle', ['idle']],
      ['?status=terminated', ['terminated']],
    ],
  ],
])('%s', async (_row, profile, filters) => {
  const user = await gateway.mint({ user: `of Profile ${profile}` });
  const caller = gateway.caller(profile, user);
  const [, idle, ended] = [await newSession(caller), await newSession(caller), await newSession(caller)];
  await makeQuiet(gateway, idle, 400);
  await caller.delete(`/sessions/${ended}`);
  for (const [query, words] of filters) {
    const { body } = await caller.get<SessionListWire>(`/sessions${query}`);
    expect([query, body.sessions.map((item) => item['status'])]).toEqual([query, words]);
  }
  expect((await caller.delete(`/sessions/${idle}`)).status).toBe(204);
});

test('silence moves a session on, and every read is right at once', async () => {
  const id = await newSession(gateway.b);
  expect(await statusesOf(id)).toEqual(['active', 'active']);
  await makeQuiet(gateway, id, 299);
  expect(await statusesOf(id)).toEqual(['active', 'active']);
  await makeQuiet(gateway, id, 2);
  expect(await statusesOf(id)).toEqual(['active', 'idle']);
  await makeQuiet(gateway, id, 3299);
  expect(await statusesOf(id)).toEqual(['completed', 'terminated']);
});

test('a message makes an idle session active again', async () => {
  const id = await newSession(gateway.a);
  await makeQuiet(gateway, id, 400);
  expect((await gateway.b.get<SessionListWire>('/sessions?status=idle')).body.sessions).toEqual([
    expect.objectContaining({ id }),
  ]);
  expect((await say(gateway.b, id, 'Hello again')).status).toBe(200);
  expect(await statusesOf(id)).toEqual(['active', 'active']);
});

test('a session that time has ended takes no message any more', async () => {
  const id = await newSession(gateway.a);
  await makeQuiet(gateway, id, 3601);
  expectError('a', await say(gateway.a, id, 'Hello'), 409, 'conflict');
});

test('last_activity, turn_count and token_usage grow with the turns', async () => {
  const id = await newSession(gateway.b);
  const fresh = await gateway.b.get<Wire>(`/sessions/${id}`);
  expect(fresh.body).toMatchObject({ turn_count: 0, token_usage: { input: 0, output: 0 }, metadata: {} });
  expect(sortedKeys(fresh.body['token_usage'])).toEqual(['input', 'output']);
  const answers = [await say(gateway.b, id, 'One'), await say(gateway.b, id, 'Two')];
  const after = await gateway.b.get<Wire>(`/sessions/${id}`);
  expect(after.body['turn_count']).toBe(2);
  expect(String(after.body['last_activity']) > String(fresh.body['last_activity'])).toBe(true);
  const { input, output } = after.body['token_usage'] as { input: number; output: number };
  expect(input).toBeGreaterThan(0);
  expect(output).toBeGreaterThan(0);
  const used = answers.reduce((sum, { body }) => sum + body.tokens_used, 0);
  expect(input + output).toBe(used);
  const inA = await gateway.a.get<Wire>(`/sessions/${id}`);
  expect(inA.body).toMatchObject({ total_tokens: used, message_count: 4 });
});

describe('a token bound to one user', () => {
  let ada: string;
  let mine: string;
  let theirs: string;
  beforeAll(async () => {
    ada = await gateway.mint({ user: 'ada' });
    mine = await newSession(gateway.a, { user_id: 'ada' });
    theirs = await newSession(gateway.a, { user_id: 'bob' });
  });

  test.each(PROFILES)(
    'sees, uses and ends only the sessions of that user; others are 404 in Profile %s',
    async (profile) => {
      const caller = gateway.caller(profile, ada);
      expect((await caller.get(`/sessions/${mine}`)).status).toBe(200);
      expect((await say(caller, mine, 'Hello')).status).toBe(200);
      expectError(profile, await caller.get(`/sessions/${theirs}`), 404, 'not_found');
      expectError(profile, await caller.get(`/sessions/${theirs}/messages`), 404, 'not_found');
      expectError(profile, await say(caller, theirs, 'Hello'), 404, 'not_found');
      expectError(profile, await caller.delete(`/sessions/${theirs}`), 404, 'not_found');
      expect(await statusesOf(theirs)).toEqual(['active', 'active']);
    },
  );

  test.each(PROFILES)(
    'lists only the sessions of that user, and counts only those, in Profile %s',
    async (profile) => {
      const { body } = await gateway.caller(profile, ada).get<SessionListWire>('/sessions');
      const own = await gateway.database.query<{ id: string }>(
        `SELECT id FROM sessions WHERE user_id = 'ada' ORDER BY created_at DESC, id DESC`,
      );
      expect(body.sessions.map((item) => item[PROFILE_DIFFERENCES[profile].idKey])).toEqual(
        own.map(({ id }) => id),
      );
      expect(body.total).toBe(own.length);
    },
  );

  test.each(PROFILES)(
    'creates sessions for that user; for another it is 403, in Profile %s',
    async (profile) => {
      const caller = gateway.caller(profile, ada);
      const own = await newSession(caller);
      const detail = await gateway.b.get<Wire>(`/sessions/${own}`);
      expect(detail.body['user_id']).toBe('ada');
      expect((await caller.post('/sessions', { user_id: 'ada' })).status).toBe(201);
      expectError(profile, await caller.post('/sessions', { user_id: 'bob' }), 403, 'forbidden');
    },
  );
});
