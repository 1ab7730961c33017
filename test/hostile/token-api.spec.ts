import type { GrantedScope } from '../../src/platform/tokens/scopes.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench } from '../harness/mcp.js';
import { promptly } from '../harness/promptly.js';
import { TurnStream } from '../harness/turn-stream.js';

interface Made {
  id: string;
  name: string;
  token: string;
  scopes: string[];
  user_id: string | null;
  expires_at: string | null;
}
interface Refusal {
  error: { message: string; details: { reason?: string; fields?: { path: string }[] } | null };
}

const SETTINGS = `
[tools.tokens.careful]
deny = ["own__erase"]
[tools.tokens.equally-careful]
deny = ["own__erase"]
`;

let bench: McpBench;
let gateway: TestGateway;
let other: TestGateway;
beforeAll(async () => {
  bench = await McpBench.make({}, SETTINGS);
  gateway = await startTestGateway({ env: bench.env });
  other = await startTestGateway({ env: bench.env, database: gateway.database });
});
afterAll(async () => {
  await other.stop();
  await gateway.stop();
  await bench.clear();
});

const HOUR = 3_600_000;
const holder = async (
  scopes: GrantedScope[],
  more: { user?: string; expiresAt?: Date; name?: string } = {},
) => gateway.adminCaller(await gateway.mint({ scopes, ...more }));
const CI = { name: 'ci', scopes: ['sessions:read'] };
const idOf = (token: string) =>
  gateway.admin
    .get<{ items: { id: string }[] }>('/tokens?limit=1')
    .then(({ body }) => [token, body.items[0]!.id] as const);
/** A token and its id. */
const minted = async (options: Parameters<TestGateway['mint']>[0]) => idOf(await gateway.mint(options));

test('a token is made, used, rotated and revoked; "the secret is in the answer that made it, once"', async () => {
  const made = await gateway.admin.post<Made>('/tokens', { ...CI, expires_in: '2h', user_id: 'ada' });
  expect([made.status, made.body]).toEqual([
    201,
    expect.objectContaining({ name: 'ci', scopes: ['sessions:read'], user_id: 'ada' }),
  ]);
  const listed = await gateway.admin.get<{ items: Made[] }>('/tokens');
  expect(listed.text).not.toContain(made.body.token);
  expect(listed.body.items[0]).toMatchObject({ id: made.body.id, user_id: 'ada' });
  expect((await gateway.caller('b', made.body.token).get('/sessions')).status).toBe(200);
  const next = await gateway.admin.post<Made>(`/tokens/${made.body.id}/rotate`, { keep_old: '1h' });
  expect([next.status, next.body.user_id, next.body.scopes]).toEqual([201, 'ada', ['sessions:read']]);
  for (const token of [made.body.token, next.body.token])
    expect((await gateway.caller('a', token).get('/sessions')).status).toBe(200);
  expect((await gateway.admin.delete(`/tokens/${next.body.id}`)).status).toBe(204);
  expect((await gateway.admin.delete(`/tokens/${next.body.id}`)).status).toBe(404);
  expect((await gateway.admin.delete('/tokens/ci')).status).toBe(404);
});

test('a token revoked on one replica is refused by another within 1.5 s', async () => {
  const [token, id] = await minted({});
  expect((await other.caller('b', token).get('/sessions')).status).toBe(200);
  expect((await gateway.admin.delete(`/tokens/${id}`)).status).toBe(204);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect((await other.caller('b', token).get('/sessions')).status).toBe(401);
});

describe('"nobody gives more than they hold"', () => {
  const refused = async (caller: Awaited<ReturnType<typeof holder>>, path: string, body: object) => {
    const { status, body: said } = await caller.post<Refusal>(path, body);
    expect([status, said.error.details?.reason]).toEqual([403, 'more_than_held']);
  };

  test('scopes', async () => {
    const caller = await holder(['tokens:write', 'sessions:read']);
    expect((await caller.post('/tokens', { ...CI, name: 'one of its own' })).status).toBe(201);
    // Tools would mistake it for the token that has, or had, this name.
    await refused(caller, '/tokens', CI);
    await refused(caller, '/tokens', { name: 'x', scopes: ['sessions:read', 'sessions:write'] });
    await refused(caller, '/tokens', { name: 'x', scopes: ['*'] });
    await refused(caller, '/tokens', { name: 'x', preset: 'admin' });
    await refused(caller, '/tokens', { name: 'x', preset: 'viewer' });
  });

  test('rotating a stronger token is refused, and it goes on working', async () => {
    const caller = await holder(['tokens:write', 'sessions:read']);
    const [strong, id] = await minted({ scopes: ['*'] });
    await refused(caller, `/tokens/${id}/rotate`, {});
    await refused(caller, `/tokens/${id}/rotate`, { keep_old: '1h' });
    expect((await gateway.caller('b', strong).get('/config')).status).toBe(200);
  });

  test('users: a bound token speaks for its user, so giving one needs users:act_as; a bound caller gives none', async () => {
    const caller = await holder(['tokens:write', 'sessions:read']);
    await refused(caller, '/tokens', { ...CI, user_id: 'ada' });
    const [, id] = await minted({ scopes: ['sessions:read'], user: 'ada' });
    await refused(caller, `/tokens/${id}/rotate`, {});
    const speaker = await holder(['tokens:write', 'sessions:read', 'users:act_as']);
    expect((await speaker.post('/tokens', { ...CI, user_id: 'ada' })).status).toBe(201);
    const bound = await holder(['*'], { user: 'ada' });
    for (const user_id of ['ada', 'bob', undefined])
      expect((await bound.post('/tokens', { ...CI, user_id })).status).toBe(403);
  });

  test('time: an end beyond the own one is refused, and the usual one is cut to it, at rotation too', async () => {
    const expiresAt = new Date(Date.now() + HOUR);
    const caller = await holder(['*'], { expiresAt });
    await refused(caller, '/tokens', { ...CI, expires_in: '2h' });
    await refused(caller, '/tokens', { ...CI, expires_in: 'never' });
    const made = await caller.post<Made>('/tokens', CI);
    expect(made.body.expires_at).toBe(expiresAt.toISOString());
    await refused(caller, `/tokens/${made.body.id}/rotate`, { expires_in: 'never' });
    const next = await caller.post<Made>(`/tokens/${made.body.id}/rotate`, {});
    expect(next.body.expires_at).toBe(expiresAt.toISOString());
    expect((await caller.post('/tokens', { ...CI, expires_in: '30m' })).status).toBe(201);
  });

  test('time: a token that was rotated and kept for a second gives nothing that lives longer', async () => {
    const [token, id] = await minted({});
    const caller = gateway.adminCaller(token);
    expect((await caller.get('/tokens')).status).toBe(200);
    await gateway.admin.post(`/tokens/${id}/rotate`, { keep_old: '30s' });
    await refused(caller, '/tokens', { ...CI, expires_in: 'never' });
    const made = await caller.post<Made>('/tokens', CI);
    expect(Date.parse(made.body.expires_at ?? '')).toBeLessThanOrEqual(Date.now() + 30_000);
  });

  test('tools: rules that hold for the maker hold for what it makes', async () => {
    const caller = await holder(['*'], { name: 'careful' });
    await refused(caller, '/tokens', { name: 'careless', scopes: ['*'] });
    expect((await caller.post('/tokens', { name: 'careful', scopes: ['*'] })).status).toBe(201);
    expect((await caller.post('/tokens', { name: 'equally-careful', scopes: ['*'] })).status).toBe(201);
    const [, id] = await minted({ name: 'careless' });
    await refused(caller, `/tokens/${id}/rotate`, {});
  });
});

test('a caller of some agents hands on those alone', async () => {
  const caller = gateway.adminCaller(await gateway.mint({ agents: ['default', 'support'], name: 'of two' }));
  const made = await caller.post<Made & { agents: string[] }>('/tokens', {
    name: 'of two as well',
    preset: 'admin',
  });
  expect([made.status, made.body.agents]).toEqual([201, ['default', 'support']]);
  const own = await caller.post<Made & { agents: string[] }>(`/tokens/${made.body.id}/rotate`, {});
  expect([own.status, own.body.agents]).toEqual([201, ['default', 'support']]);
  const [, fewer] = await minted({ agents: ['support'], name: 'of one' });
  expect((await caller.post(`/tokens/${fewer}/rotate`, {})).status).toBe(201);
  for (const agents of [undefined, ['default', 'legal']]) {
    const [, more] = await minted({ name: 'of more', ...(agents && { agents }) });
    const { status, body } = await caller.post<Refusal>(`/tokens/${more}/rotate`, {});
    expect([status, body.error.details?.reason]).toEqual([403, 'more_than_held']);
  }
});

test('a repeated Idempotency-Key gets the same token, which is nowhere in the database in the clear', async () => {
  const key = { 'idempotency-key': `make-${process.pid}` };
  const first = await gateway.admin.post<Made>('/tokens', CI, key);
  const again = await other
    .adminCaller(other.token.length > 0 ? gateway.token : '', 'b')
    .post<Made>('/tokens', CI, key);
  expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([
    201,
    first.body,
    'true',
  ]);
  const rows = await gateway.database.query<{ row: string }>(
    `SELECT row_to_json(k)::text AS row FROM idempotency_keys AS k
     UNION ALL SELECT row_to_json(t)::text FROM api_tokens AS t
     UNION ALL SELECT row_to_json(e)::text FROM audit_entries AS e`,
  );
  expect(rows.length).toBeGreaterThan(3);
  expect(rows.filter(({ row }) => row.includes(first.body.token))).toEqual([]);
  for (const { logLines } of [gateway, other])
    expect(logLines.filter((line) => line.includes(first.body.token))).toEqual([]);
});

test('of 8 that make a token at once with one key, one makes it', async () => {
  const before = (await gateway.admin.get<{ items: Made[] }>('/tokens?limit=500')).body.items.length;
  const key = { 'idempotency-key': `race-${process.pid}` };
  const made = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      (i % 2 ? gateway : other).adminCaller(gateway.token).post<Made>('/tokens', CI, key),
    ),
  );
  expect(new Set(made.map(({ body }) => body.token)).size).toBe(1);
  const after = (await gateway.admin.get<{ items: Made[] }>('/tokens?limit=500')).body.items.length;
  expect(after - before).toBe(1);
});

test('of several that rotate a token at once, one does; a maker that is revoked meanwhile leaves no token that it did not answer with', async () => {
  const [, id] = await minted({ scopes: ['sessions:read'] });
  const rotated = await Promise.all([1, 2, 3].map(() => gateway.admin.post(`/tokens/${id}/rotate`, {})));
  expect(rotated.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1);
  expect(rotated.every(({ status }) => [201, 404, 409].includes(status))).toBe(true);
});

test.each([
  [{}, ['name']],
  [{ name: 'x' }, ['scopes']],
  [{ name: 'x', scopes: ['sessions:read'], preset: 'viewer' }, ['scopes']],
  [{ name: 'x', scopes: ['sessions:all'] }, ['scopes']],
  [{ name: 'x', scopes: [] }, ['scopes']],
  [{ name: 'x', preset: 'root' }, ['preset']],
  [{ name: 'a\u202eb', preset: 'viewer' }, ['name']],
  [{ name: 'x', preset: 'viewer', expires_in: 'tomorrow' }, ['expires_in']],
  [{ name: 'x', preset: 'viewer', user_id: ' ada' }, ['user_id']],
  [{ name: 'x', preset: 'viewer', family_id: 'tok_1' }, ['family_id']],
])('%j is 400 and names the field', async (body, paths) => {
  const { status, body: said } = await gateway.admin.post<Refusal>('/tokens', body);
  expect([status, said.error.details?.fields?.map(({ path }) => path)]).toEqual([400, paths]);
});

test('keep_old has to end, and a name of a channel is refused', async () => {
  const [, id] = await minted({});
  expect((await gateway.admin.post(`/tokens/${id}/rotate`, { keep_old: 'never' })).status).toBe(400);
  expect((await gateway.admin.post('/tokens', { name: 'channel:team', preset: 'viewer' })).status).toBe(400);
});

describe('"What a token made ends with its revocation"', () => {
  const status = async (at: TestGateway, token: string) =>
    (await at.caller('b', token).get('/sessions')).status;
  const endsEverywhere = (...tokens: string[]) =>
    promptly(3000, () =>
      eventually(async () => {
        for (const token of tokens)
          expect([await status(gateway, token), await status(other, token)]).toEqual([401, 401]);
      }),
    );
  const makes = async (token: string, name: string) => {
    const { status: said, body } = await gateway
      .adminCaller(token)
      .post<Made>('/tokens', { name, preset: 'admin' });
    expect(said).toBe(201);
    return body;
  };

  test('tokens that it made end with it, what those made too, with their webhooks and streams; others go on', async () => {
    const [maker, id] = await minted({ name: 'maker' });
    const child = await makes(maker, 'child');
    const grandchild = await makes(child.token, 'grandchild');
    const stranger = await makes(gateway.token, 'stranger');
    const hook = await other
      .caller('b', grandchild.token)
      .post<{ id: string }>('/hooks', { url: 'https://example.com/', events: ['*'] });
    expect(hook.status).toBe(201);
    const stream = await TurnStream.open(`${other.b.base}/logs/stream`, grandchild.token);
    expect((await gateway.admin.delete(`/tokens/${id}`)).status).toBe(204);
    await endsEverywhere(maker, child.token, grandchild.token);
    await eventually(() => expect(stream.ended).toBe(true));
    const [row] = await gateway.database.query<object>(
      'SELECT active, inactive_reason FROM hooks WHERE id = $1',
      [hook.body.id],
    );
    expect(row).toEqual({ active: false, inactive_reason: 'token_revoked' });
    expect(await status(other, stranger.token)).toBe(200);
    const { body } = await gateway.admin.get<{ items: { subject: string }[] }>(
      '/audit?action=token.revoked&limit=3',
    );
    expect(body.items.map(({ subject }) => subject).sort()).toEqual(['child', 'grandchild', 'maker']);
  });

  test('its expiry ends none of them', async () => {
    const expiresAt = new Date(Date.now() + 1500);
    const maker = await gateway.mint({ name: 'brief', expiresAt });
    const child = await makes(maker, 'child of brief');
    await gateway.database.query(`UPDATE api_tokens SET expires_at = NULL WHERE id = $1`, [child.id]);
    await eventually(async () => expect(await status(gateway, maker)).toBe(401));
    expect(await status(gateway, child.token)).toBe(200);
  });

  test('"Rotation hands everything to the new token": its children end with the new one, and it ends with its own maker', async () => {
    const [maker, id] = await minted({ name: 'root' });
    const child = await makes(maker, 'branch');
    const leaf = await makes(child.token, 'leaf');
    const next = (await gateway.adminCaller(child.token).post<Made>(`/tokens/${child.id}/rotate`, {})).body;
    await endsEverywhere(child.token);
    expect([await status(gateway, next.token), await status(other, leaf.token)]).toEqual([200, 200]);
    expect((await gateway.admin.delete(`/tokens/${id}`)).status).toBe(204);
    await endsEverywhere(maker, next.token, leaf.token);
  });

  test('whoever rotates the token of another holds the new one, which ends with that holder and not with its first maker', async () => {
    const [first, firstId] = await minted({ name: 'first maker' });
    const [second, secondId] = await minted({ name: 'second maker' });
    const child = await makes(first, 'handed over');
    const next = (await gateway.adminCaller(second).post<Made>(`/tokens/${child.id}/rotate`, {})).body;
    expect((await gateway.admin.delete(`/tokens/${firstId}`)).status).toBe(204);
    await endsEverywhere(first, child.token);
    expect(await status(gateway, next.token)).toBe(200);
    expect((await gateway.admin.delete(`/tokens/${secondId}`)).status).toBe(204);
    await endsEverywhere(second, next.token);
  });

  test('no token replaces the one that made it, to outlive it', async () => {
    const [maker, id] = await minted({ name: 'parent' });
    const child = await makes(maker, 'daughter');
    const grandchild = await makes(child.token, 'granddaughter');
    for (const target of [id, child.id]) {
      const said = await gateway.adminCaller(grandchild.token).post<Refusal>(`/tokens/${target}/rotate`, {});
      expect([said.status, said.body.error.details?.reason]).toEqual([403, 'made_by_it']);
    }
    expect((await gateway.admin.delete(`/tokens/${id}`)).status).toBe(204);
    await endsEverywhere(maker, child.token, grandchild.token);
  });

  test('a maker that is revoked while it makes tokens leaves none', async () => {
    const [maker, id] = await minted({ name: 'racing' });
    const caller = gateway.adminCaller(maker);
    const wishes = Array.from({ length: 12 }, (_, n) =>
      caller.post<Made>('/tokens', { name: `racing ${n}`, preset: 'admin' }),
    );
    await Promise.race(wishes);
    expect((await other.adminCaller(gateway.token).delete(`/tokens/${id}`)).status).toBe(204);
    const made = (await Promise.all(wishes)).filter(({ status: said }) => said === 201);
    expect(made.length).toBeGreaterThan(0);
    await endsEverywhere(...made.map(({ body }) => body.token));
  });

  test('tokens that rotate and revoke one another at once wait for each other: one wins, and none fails with 5xx', async () => {
    const [[one, oneId], [two, twoId]] = [await minted({ name: 'cain' }), await minted({ name: 'abel' })];
    const said = await Promise.all([
      gateway.adminCaller(one).post(`/tokens/${twoId}/rotate`, {}),
      other.adminCaller(two).post(`/tokens/${oneId}/rotate`, {}),
      gateway.adminCaller(one).post(`/tokens/${oneId}/rotate`, {}),
      other.adminCaller(two).delete(`/tokens/${oneId}`),
    ]);
    expect(said.map((answer) => answer.status).filter((code) => code >= 500)).toEqual([]);
  });
});
