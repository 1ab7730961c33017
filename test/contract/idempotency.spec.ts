import { KeyRetention } from '../../src/http/idempotency/key-retention.service.js';
import { Database } from '../../src/platform/database/database.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { expectCommonHeaders, expectError } from './support/envelope.js';
import { idIn, newSession, PROFILES, type SessionListWire } from './support/faces.js';
import { isReplayed, sendWithKey, storedKeys, writesOf } from './support/keyed-requests.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.database.query('DELETE FROM idempotency_keys'));

const RECEIVER = { url: 'http://127.0.0.1:9999/hook', events: ['session.created'] };
const total = async () =>
  (await gateway.b.get<SessionListWire>('/sessions?status=active&limit=0')).body.total;
const hooks = async () => (await gateway.b.get<{ hooks: unknown[] }>('/hooks')).body.hooks.length;

describe.each(PROFILES)('Idempotency-Key on every POST and PATCH | Profile %s', (profile) => {
  test('every POST and PATCH that the router has takes part: a bad key is 400 before anything is looked at', async () => {
    const writes = writesOf(gateway, profile);
    expect(writes.length).toBeGreaterThan(4);
    for (const write of writes) {
      const path = write.path.replace(/:\w+/g, 'nothing-of-that-name');
      const wrong = { ...write, path, body: { unknown: 'field' } };
      const answer = await sendWithKey(gateway, profile, wrong, 'two words');
      const error = expectError(profile, answer, 400, 'bad_request');
      expect([write, error.message]).toEqual([
        write,
        expect.stringMatching(/^Idempotency-Key: must be 1 to 255/),
      ]);
    }
    expect(await storedKeys(gateway)).toEqual([]);
  });

  test.each(['', ' ', 'a b', 'x'.repeat(256), 'é', 'tab\tbed'])('a key such as %j is 400', async (key) => {
    const answer = await sendWithKey(gateway, profile, { method: 'POST', path: '/sessions', body: {} }, key);
    const error = expectError(profile, answer, 400, 'bad_request');
    if (profile === 'b') expect(error.details?.fields?.[0]?.path).toBe('Idempotency-Key');
  });

  test('token, rate, scope and body come before the key', async () => {
    const headers = { 'idempotency-key': 'two words', 'content-type': 'application/json' };
    const send = (token: string | undefined, raw: string) =>
      gateway.caller(profile, token).send('POST', '/sessions', { raw, headers });
    expectError(profile, await send(undefined, '{}'), 401, 'unauthorized');
    expectError(profile, await send(await gateway.mint({ scopes: ['hooks:read'] }), '{}'), 403, 'forbidden');
    expect(expectError(profile, await send(gateway.token, '{'), 400, 'bad_request').message).not.toContain(
      'Key',
    );
  });

  test.each([
    ['POST /sessions', '/sessions', {}, 201],
    ['POST /hooks', '/hooks', RECEIVER, 201],
  ])('%s | same key and body: the stored answer, and one effect', async (_row, path, body, status) => {
    const before = [await total(), await hooks()];
    const request = { method: 'POST', path, body };
    const key = '!'.padEnd(255, '~');
    const first = await sendWithKey(gateway, profile, request, key);
    const again = await sendWithKey(gateway, profile, request, key);
    expect([first.status, isReplayed(first)]).toEqual([status, false]);
    expect([again.status, again.text, isReplayed(again)]).toEqual([status, first.text, true]);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expectCommonHeaders(again);
    const after = [await total(), await hooks()];
    expect(after.reduce((sum, one) => sum + one, 0)).toBe(before.reduce((sum, one) => sum + one, 0) + 1);
  });

  test('other body, and the same in the other profile: 409, and nothing of it is done', async () => {
    const request = { method: 'POST', path: '/sessions', body: { user_id: 'ada' } };
    expect((await sendWithKey(gateway, profile, request, 'k')).status).toBe(201);
    const before = await total();
    const other = await sendWithKey(gateway, profile, { ...request, body: { user_id: 'bob' } }, 'k');
    const error = expectError(profile, other, 409, 'conflict');
    expect(other.headers.get('retry-after')).toBeNull();
    if (profile === 'b') expect(error.details?.reason).toBe('idempotency_key_reused');
    const there = profile === 'a' ? 'b' : 'a';
    expectError(there, await sendWithKey(gateway, there, request, 'k'), 409, 'conflict');
    expect(await total()).toBe(before);
  });

  test('a key is of one token, method and path', async () => {
    const ids = new Set<string>();
    const other = gateway.caller(profile, await gateway.mint());
    const headers = { 'idempotency-key': 'k' };
    for (const caller of [gateway[profile], other, gateway[profile], other])
      ids.add(idIn((await caller.post<Record<string, unknown>>('/sessions', {}, headers)).body));
    expect(ids.size).toBe(2);
    const hook = await gateway[profile].post('/hooks', RECEIVER, headers);
    expect([hook.status, isReplayed(hook)]).toEqual([201, false]);
    // A path that is spelled differently is the same path.
    const slash = await gateway[profile].post<Record<string, unknown>>('/sessions/', {}, headers);
    expect([ids.has(idIn(slash.body)), isReplayed(slash)]).toEqual([true, true]);
  });

  test('what is refused is not kept: the key serves the corrected request', async () => {
    const wrong = { method: 'POST', path: '/sessions', body: { channel: 'nowhere' } };
    expectError(profile, await sendWithKey(gateway, profile, wrong, 'k'), 400, 'bad_request');
    expectError(
      profile,
      await sendWithKey(gateway, profile, { ...wrong, body: { unknown: 1 } }, 'k'),
      400,
      'bad_request',
    );
    const missing = { method: 'POST', path: '/sessions/sess_nobody/messages', body: { content: 'x' } };
    expectError(profile, await sendWithKey(gateway, profile, missing, 'k'), 404, 'not_found');
    const plugin = profile === 'a' ? 'enable' : 'reload';
    const unknown = { method: 'POST', path: `/plugins/nobody/${plugin}` };
    expectError(profile, await sendWithKey(gateway, profile, unknown, 'k'), 404, 'not_found');
    expect(await storedKeys(gateway)).toEqual([]);
    expect((await sendWithKey(gateway, profile, { ...wrong, body: {} }, 'k')).status).toBe(201);
  });

  test('100 at once with one key: one session, and nobody is told of another', async () => {
    const before = await total();
    const request = { method: 'POST', path: '/sessions', body: {} };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => sendWithKey(gateway, profile, request, 'one')),
    );
    const made = answers.filter(({ status }) => status === 201);
    for (const answer of answers) expect([201, 409]).toContain(answer.status);
    expect(new Set(made.map(({ body }) => idIn(body))).size).toBe(1);
    expect(made.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    expect(await total()).toBe(before + 1);
  });

  test('what has its effect outside of the database is written down too', async () => {
    const path = profile === 'a' ? '/channels/api/test' : '/channels/api/restart';
    const first = await sendWithKey(gateway, profile, { method: 'POST', path }, 'k');
    const again = await sendWithKey(gateway, profile, { method: 'POST', path }, 'k');
    expect([first.status, isReplayed(first)]).toEqual([200, false]);
    expect([again.status, again.text, isReplayed(again)]).toEqual([200, first.text, true]);
  });

  test('one whose replica is gone is not done again, and that is said', async () => {
    const path = profile === 'a' ? '/channels/api/test' : '/channels/api/restart';
    await sendWithKey(gateway, profile, { method: 'POST', path }, 'k');
    const lose = (until: string) =>
      gateway.database.query(
        `UPDATE idempotency_keys SET status = NULL, owner = 'gone', lease_until = ${until}`,
      );
    await lose(`now() + interval '10 seconds'`);
    const running = await sendWithKey(gateway, profile, { method: 'POST', path }, 'k');
    const inUse = expectError(profile, running, 409, 'conflict');
    expect(running.headers.get('retry-after')).toBe('1');
    await lose(`now() - interval '1 second'`);
    const lost = await sendWithKey(gateway, profile, { method: 'POST', path }, 'k');
    const unknown = expectError(profile, lost, 409, 'conflict');
    expect(lost.headers.get('retry-after')).toBeNull();
    if (profile === 'b')
      expect([inUse.details?.reason, unknown.details?.reason]).toEqual([
        'idempotency_key_in_use',
        'idempotency_outcome_unknown',
      ]);
  });

  test('kept 24 h: then the key is new, and the row goes', async () => {
    const request = { method: 'POST', path: '/sessions', body: {} };
    const first = await sendWithKey(gateway, profile, request, 'k');
    const age = (by: string) =>
      gateway.database.query(`UPDATE idempotency_keys SET created_at = created_at - interval '${by}'`);
    await age('23 hours 59 minutes');
    expect(isReplayed(await sendWithKey(gateway, profile, request, 'k'))).toBe(true);
    await age('1 minute');
    const second = await sendWithKey(gateway, profile, request, 'k');
    expect([second.status, isReplayed(second)]).toEqual([201, false]);
    expect(idIn(second.body)).not.toBe(idIn(first.body));
    await sendWithKey(gateway, profile, request, 'old');
    await gateway.database.query(
      `INSERT INTO idempotency_keys (scope, token_id, operation, request, created_at)
       SELECT n::text, '', '', '', now() - interval '25 hours' FROM generate_series(1, 2500) AS n`,
    );
    await gateway.started.app.get(KeyRetention, { strict: false }).job.runAll();
    expect(await storedKeys(gateway)).toHaveLength(2);
  });

  test('GET and DELETE, and a path that no route takes, know no key', async () => {
    const id = await newSession(gateway[profile]);
    const headers = { 'idempotency-key': 'two words' };
    expect((await gateway[profile].get('/sessions', headers)).status).toBe(200);
    expect((await gateway[profile].delete(`/sessions/${id}`, headers)).status).toBe(204);
    expectError(profile, await gateway[profile].post('/nowhere', {}, headers), 404, 'not_found');
    expect(await storedKeys(gateway)).toEqual([]);
  });
});

test('PATCH /config | applied once: a later change of somebody else is not undone by the same key', async () => {
  const request = { method: 'PATCH', path: '/config', body: { 'agent.max_turns': 31 } };
  const first = await sendWithKey(gateway, 'b', request, 'k');
  expect(first.status).toBe(200);
  await gateway.b.patch('/config', { 'agent.max_turns': 32 });
  const again = await sendWithKey(gateway, 'b', request, 'k');
  expect([again.text, isReplayed(again)]).toEqual([first.text, true]);
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
  const shown = await gateway.b.get<{ agent: { max_turns: number } }>('/config');
  expect(shown.body.agent.max_turns).toBe(32);
  const [row] = await gateway.database.query<{ n: number }>('SELECT count(*)::int AS n FROM config_changes');
  expect(row?.n).toBe(2);
  // The tag of the first response is still the current one.
  const stale = await gateway.b.patch(
    '/config',
    { 'agent.max_turns': 33 },
    { 'if-match': String(first.headers.get('etag')) },
  );
  expect(stale.status).toBe(409);
});

test('PATCH /config | nothing to change, and a change that is refused', async () => {
  const empty = { method: 'PATCH', path: '/config', body: {} };
  const first = await sendWithKey(gateway, 'b', empty, 'none');
  const again = await sendWithKey(gateway, 'b', empty, 'none');
  expect([first.status, again.text, isReplayed(again)]).toEqual([200, first.text, true]);
  const wrong = { ...empty, body: { 'agent.max_turns': 'many' } };
  for (let time = 0; time < 2; time += 1) {
    const refused = await sendWithKey(gateway, 'b', wrong, 'wrong');
    expectError('b', refused, 400, 'bad_request');
    expect(isReplayed(refused)).toBe(false);
  }
});

test('POST /config/reload | the answer is kept with its record in the history', async () => {
  const request = { method: 'POST', path: '/config/reload' };
  const first = await sendWithKey(gateway, 'a', request, 'k');
  const again = await sendWithKey(gateway, 'a', request, 'k');
  expect([first.status, again.text, isReplayed(again)]).toEqual([200, first.text, true]);
});

test('no key and no stored answer holds a secret', async () => {
  const secret = 'a-secret-that-nobody-else-has';
  const key = 'a-key-that-is-nobodys-business';
  const request = { method: 'POST', path: '/hooks', body: { ...RECEIVER, secret } };
  expect((await sendWithKey(gateway, 'b', request, key)).status).toBe(201);
  const rows = JSON.stringify(await gateway.database.query('SELECT * FROM idempotency_keys'));
  expect(rows).toContain('POST /api/v1/hooks');
  for (const hidden of [secret, key, gateway.token]) expect(rows).not.toContain(hidden);
});

test('without the header nothing is asked of the database that was not asked before', async () => {
  // Counts statements outside transactions, which use a query runner of their own.
  const query = jest.spyOn(gateway.started.app.get(Database, { strict: false }), 'query');
  try {
    const id = await newSession(gateway.b);
    await gateway.b.post(`/sessions/${id}/messages`, { content: 'Hello' });
    await gateway.b.post('/channels/api/restart');
    const names = query.mock.calls.map(([statement]) => statement.name);
    expect(names.filter((name) => name.startsWith('idempotency'))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['sessions.insert_for_agent', 'turns.begin_or_go_on']));
  } finally {
    query.mockRestore();
  }
});

test('requests are counted by what the key came to', async () => {
  const count = async () => {
    const { text } = await gateway.operations.get<string>('/metrics');
    return ['first', 'replayed', 'refused'].map((outcome) =>
      Number(
        new RegExp(`^agent_gateway_idempotent_requests_total\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(
          text,
        )?.[1],
      ),
    );
  };
  const before = await count();
  const request = { method: 'POST', path: '/sessions', body: {} };
  for (const body of [{}, {}, { user_id: 'ada' }]) await sendWithKey(gateway, 'a', { ...request, body }, 'k');
  expect((await count()).map((now, at) => now - (before[at] ?? 0))).toEqual([1, 1, 1]);
});
