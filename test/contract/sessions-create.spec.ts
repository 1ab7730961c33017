import type { ProfileId } from '../../src/http/profiles/profile.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { expectError } from './support/envelope.js';
import {
  ISO_UTC,
  idIn,
  newSession,
  PROFILE_DIFFERENCES,
  PROFILES,
  sortedKeys,
  type Wire,
} from './support/faces.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const EVERY_FIELD = {
  a: { channel: 'api', user_id: 'ada', system_prompt: 'Answer in rhymes.', model: 'rhymer-1' },
  b: { channel: 'api', user_id: 'ada', metadata: { team: 'blue' } },
} as const satisfies Record<ProfileId, Wire>;

const COUNT = 'SELECT count(*)::int AS n FROM sessions';

async function sessionCount(): Promise<number> {
  return (await gateway.database.query<{ n: number }>(COUNT))[0]?.n ?? -1;
}

describe.each([
  [
    '4.1 | POST | /sessions | JSON body: channel, user_id, system_prompt, model | 201; session (create shape)',
    'a',
  ],
  ['4.2 | POST | /sessions | JSON body: channel, user_id, metadata | 201; session (create shape)', 'b'],
] as const)('%s', (_row, profile) => {
  const face = PROFILE_DIFFERENCES[profile];

  test('201; session (create shape), with every field, with none, and without any body', async () => {
    for (const answer of [
      await gateway[profile].post<Wire>('/sessions', EVERY_FIELD[profile]),
      await gateway[profile].post<Wire>('/sessions', {}),
      await gateway[profile].post<Wire>('/sessions'),
    ]) {
      expect(answer.status).toBe(201);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(sortedKeys(answer.body)).toEqual(face.created);
      expect(answer.body).toMatchObject({ channel: 'api', status: 'active' });
      expect(answer.body['created_at']).toMatch(ISO_UTC);
      expect(idIn(answer.body)).toMatch(/^sess_[0-9a-z]{26}$/);
    }
  });

  test('3 | (none) | POST sessions | valid request | active | 201 returned with the new session', async () => {
    const created = await gateway[profile].post<Wire>('/sessions', {});
    expect([created.status, created.body['status']]).toEqual([201, 'active']);
    const id = idIn(created.body);
    for (const other of PROFILES) {
      const detail = await gateway[other].get<Wire>(`/sessions/${id}`);
      expect(detail.status).toBe(200);
      expect(detail.body).toMatchObject({ [PROFILE_DIFFERENCES[other].idKey]: id, status: 'active' });
    }
  });

  test('created_at is the moment of the request', async () => {
    const before = Date.now() - 2000;
    const { body } = await gateway[profile].post<Wire>('/sessions');
    const createdAt = Date.parse(String(body['created_at']));
    expect(createdAt).toBeGreaterThan(before);
    expect(createdAt).toBeLessThan(Date.now() + 2000);
  });

  test('channel | String | default `api`; a channel that is not configured is 400 and makes nothing', async () => {
    const before = await sessionCount();
    const answer = await gateway[profile].post('/sessions', { channel: 'pigeon' });
    const error = expectError(profile, answer, 400, 'bad_request');
    expect(error.message).toContain('channel');
    expect(await sessionCount()).toBe(before);
  });

  test.each<[string, Wire]>([
    ['channel must be a string', { channel: 1 }],
    ['channel must not be null', { channel: null }],
    ['channel must not be empty', { channel: '' }],
    ['channel must have at most 128 characters', { channel: 'c'.repeat(129) }],
    ['user_id must be a string', { user_id: ['ada'] }],
    ['user_id must not be empty', { user_id: '' }],
    ['user_id must have at most 256 characters', { user_id: 'u'.repeat(257) }],
    ['an unknown field', { channell: 'api' }],
    ['a field of a name that every object has', { toString: 'x' }],
  ])('400 | invalid body | %s', async (_what, body) => {
    const before = await sessionCount();
    expectError(profile, await gateway[profile].post('/sessions', body), 400, 'bad_request');
    expect(await sessionCount()).toBe(before);
  });

  test('user_id | String | given, else the name of the token; 256 characters fit, whatever their bytes', async () => {
    const token = await gateway.mint({ name: 'telegraph' });
    const nameless = await newSession(gateway.caller(profile, token));
    const given = await newSession(gateway[profile], { user_id: '🜁'.repeat(256) });
    const users = [nameless, given].map(
      async (id) => (await gateway.b.get<Wire>(`/sessions/${id}`)).body['user_id'],
    );
    expect(await Promise.all(users)).toEqual(['telegraph', '🜁'.repeat(256)]);
  });
});

test.each<[string, Wire, number]>([
  ['system_prompt of 64 KiB', { system_prompt: 'é'.repeat(32_768) }, 201],
  ['system_prompt of one byte more', { system_prompt: `${'é'.repeat(32_768)}x` }, 400],
  ['system_prompt that is no string', { system_prompt: {} }, 400],
  ['model that is empty', { model: '' }, 400],
  ['model that is no string', { model: 5 }, 400],
  ['metadata, which is of Profile B', { metadata: {} }, 400],
])('Profile A, bounds of the create request: %s', async (_what, body, status) => {
  const answer = await gateway.a.post('/sessions', body);
  if (status === 400) expectError('a', answer, 400, 'bad_request');
  expect(answer.status).toBe(status);
});

test('Profile B: metadata is {} when not given', async () => {
  const created = await gateway.b.post<Wire>('/sessions');
  expect(created.body['metadata']).toEqual({});
  const detail = await gateway.b.get<Wire>(`/sessions/${idIn(created.body)}`);
  expect(detail.body['metadata']).toEqual({});
});

test('Profile B: every key of metadata survives the round trip, also those that every object has', async () => {
  const text = `{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}},"prototype":2,"toString":"s",
    "hasOwnProperty":null,"":"empty","a.b":[1,{"__proto__":3}],"nested":{"deep":[[],{}]},"n":1.5e-7,"z":1,"A":2,"ключ":"значение"}`;
  const sent = await gateway.b.send<Wire>('POST', '/sessions', {
    raw: `{"metadata":${text}}`,
    headers: { 'content-type': 'application/json' },
  });
  expect(sent.status).toBe(201);
  const expected = JSON.stringify(JSON.parse(text));
  expect(JSON.stringify(sent.body['metadata'])).toBe(expected);
  const detail = await gateway.b.get<Wire>(`/sessions/${idIn(sent.body)}`);
  expect(JSON.stringify(detail.body['metadata'])).toBe(expected);
  expect(({} as Wire)['polluted']).toBeUndefined();
});

test.each<[string, unknown, number]>([
  ['of 16 KiB as JSON', { k: 'x'.repeat(16_384 - 8) }, 201],
  ['of one byte more', { k: 'x'.repeat(16_384 - 7) }, 400],
  ['null', null, 400],
  ['an array', [], 400],
  ['a string', '{}', 400],
])('Profile B, bounds of metadata: %s', async (_what, metadata, status) => {
  const answer = await gateway.b.post('/sessions', { metadata });
  if (status === 400) expectError('b', answer, 400, 'bad_request');
  expect(answer.status).toBe(status);
});

test('Errors: nesting over 32 counts the body itself: 32 levels are kept, 33 are 400', async () => {
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const send = (depth: number) =>
    gateway.b.send<Wire>('POST', '/sessions', {
      raw: `{"metadata":${nested(depth - 1)}}`,
      headers: { 'content-type': 'application/json' },
    });
  const kept = await send(32);
  expect([kept.status, JSON.stringify(kept.body['metadata'])]).toEqual([201, nested(31)]);
  const error = expectError('b', await send(33), 400, 'bad_request');
  expect(error.message).toContain('nested deeper than 32 levels');
});

test.each(['system_prompt', 'model'])('Profile B: %s is of Profile A and unknown here', async (field) => {
  const error = expectError('b', await gateway.b.post('/sessions', { [field]: 'x' }), 400, 'bad_request');
  expect(error.details).toEqual({ fields: [{ path: field, message: 'unknown field' }] });
});

test('details: every field that is wrong is named', async () => {
  const answer = await gateway.b.post('/sessions', { channel: 1, user_id: '', colour: 'red' });
  const { details } = expectError('b', answer, 400, 'bad_request');
  expect(details?.fields?.map(({ path }) => path).sort()).toEqual(['channel', 'colour', 'user_id']);
});

test.each(['a', 'b'] as const)(
  'agent: a session is bound to the default agent, and an unknown one is 400 (%s)',
  async (profile) => {
    const named = await gateway[profile].post<Wire>('/sessions', { agent: 'default' });
    expect(named.status).toBe(201);
    const detail = await gateway[profile].get<Wire>(`/sessions/${idIn(named.body)}`);
    expect(detail.body['agent']).toBe('default');
    const refused = await gateway[profile].post<Wire>('/sessions', { agent: 'stranger', channel: 'none' });
    const { message } = expectError(profile, refused, 400, 'bad_request');
    expect(message).toMatch(/agent: is not a configured agent/);
    expect(message).toContain('channel');
  },
);
