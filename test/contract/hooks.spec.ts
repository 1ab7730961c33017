import type { ProfileId } from '../../src/http/profiles/profile.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { expectError } from './support/envelope.js';
import { ISO_UTC, PROFILES } from './support/faces.js';

interface HookWire {
  readonly id: string;
  readonly url: string;
  readonly events: string[];
  readonly active: boolean;
  readonly created_at: string;
}
interface HookListWire {
  readonly hooks: HookWire[];
}

const SECRET = 'a secret that must never come back';
const wish = { url: 'https://example.com/hook', events: ['session.created', 'message.*'], secret: SECRET };

const anId = expect.stringMatching(/^hook_[0-9a-z]{26}$/) as unknown;
const aTime = expect.stringMatching(ISO_UTC) as unknown;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__SECURITY__ALLOW_LOOPBACK: 'never' } });
});
afterAll(() => gateway.stop());

/** Two hooks of each profile, in the order in which they were registered. */
const made: Record<ProfileId, HookWire[]> = { a: [], b: [] };

async function listed(profile: ProfileId): Promise<HookWire[]> {
  return (await gateway[profile].get<HookListWire>('/hooks')).body.hooks;
}

describe.each([
  [
    '4.1 | POST | /hooks | JSON body: url (String), events (array of String), secret (String) | registers a webhook; response not shown',
    'a',
  ],
  [
    '4.2 | POST | /hooks | JSON body: url, events (array of String), secret | 201; webhook (id, url, events, active, created_at)',
    'b',
  ],
] as const)('%s', (_row, profile) => {
  test('201; webhook (id, url, events, active, created_at), never its secret', async () => {
    for (const path of ['/one', '/two']) {
      const sent = { ...wish, url: wish.url + path };
      const { status, body, text } = await gateway[profile].post<HookWire>('/hooks', sent);
      expect(status).toBe(201);
      expect(body).toEqual({ id: anId, url: sent.url, events: wish.events, active: true, created_at: aTime });
      expect(text).not.toContain(SECRET);
      made[profile].push(body);
    }
  });
});

describe('in an answer to POST, and in the list', () => {
  test.each<[row: string, field: keyof HookWire, value: unknown]>([
    ['2.4 | id | String | assigned by the service', 'id', anId],
    ['2.4 | url | String | target URL', 'url', `${wish.url}/two`],
    ['2.4 | events | array of String | subscribed event names (see Events)', 'events', wish.events],
    ['2.4 | active | boolean | Profile B', 'active', true],
    ['2.4 | created_at | timestamp | Profile B', 'created_at', aTime],
  ])('%s', async (_row, field, value) => {
    for (const profile of PROFILES) {
      const answered = made[profile][1];
      const item = (await listed(profile)).find(({ id }) => id === answered?.id);
      expect([profile, answered?.[field], item?.[field]]).toEqual([profile, value, answered?.[field]]);
    }
  });

  test('2.4 | secret | String | supplied on registration; not returned in the Profile B responses', async () => {
    for (const profile of PROFILES) {
      for (const hook of [...made[profile], ...(await listed(profile))])
        expect(Object.keys(hook)).not.toContain('secret');
      expectError(profile, await gateway[profile].post('/hooks', { ...wish, secret: 1 }), 400, 'bad_request');
      const { status, body } = await gateway[profile].post<HookWire>('/hooks', {
        ...wish,
        secret: undefined,
      });
      expect(status).toBe(201);
      await gateway[profile].delete(`/hooks/${body.id}`);
    }
  });

  test('a request that brings its own id, state or time is refused', async () => {
    for (const [field, value] of [
      ['id', 'hook_01jd8v3q5ze0psx2w9t6m4k7ah'],
      ['active', false],
      ['created_at', '2026-01-01T00:00:00.000Z'],
    ] as const) {
      const answer = await gateway.b.post('/hooks', { ...wish, [field]: value });
      const { details } = expectError('b', answer, 400, 'bad_request');
      expect(details?.fields?.map(({ path }) => path)).toEqual([field]);
    }
  });
});

describe.each([
  ['4.1 | GET | /hooks | none | lists webhooks; response not shown', 'a'],
  ['4.2 | GET | /hooks | none | 200; object with hooks (array)', 'b'],
] as const)('%s', (_row, profile) => {
  test('200; object with hooks (array), newest first, without their secrets, in both profiles the same', async () => {
    const { status, body, text } = await gateway[profile].get<HookListWire>('/hooks');
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['hooks']);
    expect(body.hooks).toEqual([...made.a, ...made.b].reverse());
    expect(text).not.toContain('secret');
  });
});

describe.each([
  ['4.1 | DELETE | /hooks/:id | none | deletes a webhook; response status not shown', 'a'],
  ['4.2 | DELETE | /hooks/:id | none | 204, no body', 'b'],
] as const)('%s', (_row, profile) => {
  test('204, no body; the second time 404 not_found', async () => {
    for (const { id } of made[profile]) {
      const first = await gateway[profile].delete(`/hooks/${id}`);
      expect([first.status, first.text]).toEqual([204, '']);
      expectError(profile, await gateway[profile].delete(`/hooks/${id}`), 404, 'not_found');
      expect((await listed(profile)).map((hook) => hook.id)).not.toContain(id);
    }
  });
});

describe.each(PROFILES)('Profile %s', (profile) => {
  const api = () => gateway[profile];

  test.each([
    'nope',
    'hook_',
    'sess_01jd8v3q5ze0psx2w9t6m4k7ah',
    '__proto__',
    'hook_01jd8v3q5ze0psx2w9t6m4k7ah',
  ])(
    'DELETE /hooks/%s, which is none, is 404',
    async (id) => void expectError(profile, await api().delete(`/hooks/${id}`), 404, 'not_found'),
  );

  test.each([
    ['no url', { events: ['*'] }, 'url'],
    ['a url that is not one', { ...wish, url: 'nonsense' }, 'url'],
    ['an empty url', { ...wish, url: '' }, 'url'],
    ['a url that is too long', { ...wish, url: `https://example.com/${'x'.repeat(2048)}` }, 'url'],
    ['another scheme', { ...wish, url: 'ftp://example.com/' }, 'url'],
    ['credentials', { ...wish, url: 'https://user:pass@example.com/' }, 'url'],
    ['a private address', { ...wish, url: 'http://10.0.0.1/' }, 'url'],
    ['this machine', { ...wish, url: 'http://localhost/' }, 'url'],
    ['a forbidden port', { ...wish, url: 'http://example.com:22/' }, 'url'],
    ['no events', { url: wish.url }, 'events'],
    ['an empty list of events', { ...wish, events: [] }, 'events'],
    ['events that are no list', { ...wish, events: 'session.created' }, 'events'],
    ['events that are no strings', { ...wish, events: [1] }, 'events'],
    ['too many events', { ...wish, events: Array.from({ length: 51 }, () => '*') }, 'events'],
    ['an unknown event', { ...wish, events: ['*', 'session.exploded'] }, 'events.1'],
    ['a pattern that fits nothing', { ...wish, events: ['sess*'] }, 'events.0'],
    ['a secret that is too short', { ...wish, secret: 'short' }, 'secret'],
    ['a secret that is too long', { ...wish, secret: 'x'.repeat(257) }, 'secret'],
    ['a secret that only looks like base64', { ...wish, secret: 'whsec_not base64!' }, 'secret'],
    ['a null secret', { ...wish, secret: null }, 'secret'],
    ['an unknown field', { ...wish, colour: 'red' }, 'colour'],
  ])('POST /hooks with %s is 400 and names the field', async (_what, body, field) => {
    const error = expectError(profile, await api().post('/hooks', body), 400, 'bad_request');
    expect(error.message).toContain(`${field}:`);
    if (profile === 'b') expect(error.details?.fields?.[0]?.path).toBe(field);
    expect(error.message).not.toContain('10.0.0.1');
  });

  test('an unknown event is answered with the known ones', async () => {
    const answer = await api().post('/hooks', { ...wish, events: ['nope'] });
    const { message } = expectError(profile, answer, 400, 'bad_request');
    for (const name of ['session.created', 'session.completed', 'config.updated', 'session.*']) {
      expect(message).toContain(name);
    }
  });

  test('hooks:read lists, hooks:write changes, and neither does the other', async () => {
    const reader = gateway.caller(profile, await gateway.mint({ scopes: ['hooks:read'] }));
    const writer = gateway.caller(profile, await gateway.mint({ scopes: ['hooks:write'] }));
    expect((await reader.get('/hooks')).status).toBe(200);
    expectError(profile, await writer.get('/hooks'), 403, 'forbidden');
    expectError(profile, await reader.post('/hooks', wish), 403, 'forbidden');
    expectError(profile, await reader.delete('/hooks/hook_01jd8v3q5ze0psx2w9t6m4k7ah'), 403, 'forbidden');
    const { status, body } = await writer.post<HookWire>('/hooks', wish);
    expect(status).toBe(201);
    expect((await writer.delete(`/hooks/${body.id}`)).status).toBe(204);
  });

  test('the 101st hook is 400, even when many are registered at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 110 }, () => api().post<HookWire>('/hooks', wish)),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    const { body } = await api().get<HookListWire>('/hooks');
    expect(body.hooks).toHaveLength(100);
    expect(refused.length).toBe(10);
    for (const answer of refused) expectError(profile, answer, 400, 'bad_request');
    for (const { id } of body.hooks) await api().delete(`/hooks/${id}`);
  });
});

test('no secret is readable in the database', async () => {
  await gateway.a.post('/hooks', wish);
  const [row] = await gateway.database.query<{ all: string }>('SELECT hooks::text AS all FROM hooks');
  expect(row?.all).toContain('agw1:');
  expect(row?.all).not.toContain('never come back');
});
