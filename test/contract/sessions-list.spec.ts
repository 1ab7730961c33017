import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { ProfileId } from '../../src/http/profiles/profile.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { expectError } from './support/envelope.js';
import {
  ISO_UTC,
  idIn,
  makeQuiet,
  newSession,
  PROFILE_DIFFERENCES,
  type SessionListWire,
  sortedKeys,
  type Wire,
} from './support/faces.js';

const SILENT_COUNT = 4;

let gateway: TestGateway;
/** Created one after the other, oldest first: 6 active, 2 idle and 2 ended by time, 3 deleted. */
const made: { id: string; status: 'active' | 'idle' | 'terminated' }[] = [];

beforeAll(async () => {
  gateway = await startTestGateway();
  for (let i = 0; i < 13; i++) {
    const id = await newSession(i % 2 === 0 ? gateway.a : gateway.b, { user_id: `user-${i % 3}` });
    const status = i < 6 ? 'active' : i < 8 ? 'idle' : 'terminated';
    made.push({ id, status });
    if (status === 'idle') await makeQuiet(gateway, id, 400);
    else if (i < 6 + SILENT_COUNT && i >= 8) await makeQuiet(gateway, id, 4000);
    else if (status === 'terminated') expect((await gateway.a.delete(`/sessions/${id}`)).status).toBe(204);
  }
});
afterAll(() => gateway.stop());

const idsOf = (body: SessionListWire): string[] => body.sessions.map(idIn);
/** Newest first. */
const idsWith = (...statuses: string[]): string[] =>
  made
    .filter(({ status }) => statuses.includes(status))
    .map(({ id }) => id)
    .reverse();

/** Each filter, the statuses it selects, and the status that its items show. */
const FILTERS: Record<ProfileId, [query: string, statuses: string[]][]> = {
  a: [
    ['', ['active', 'idle']],
    ['?status=active', ['active', 'idle']],
    ['?status=completed', ['terminated']],
    ['?status=all', ['active', 'idle', 'terminated']],
  ],
  b: [
    ['', ['active']],
    ['?status=active', ['active']],
    ['?status=idle', ['idle']],
    ['?status=terminated', ['terminated']],
  ],
};

describe.each([
  [
    '4.1 | GET | /sessions | query: status (active / completed / all), limit (usize, default 50), offset (usize) | 200; object with sessions (array of session list items) and total (integer)',
    'a',
  ],
  [
    '4.2 | GET | /sessions | query: status (String, default active; values active, idle, terminated), channel (String, default all channels), limit (usize, default 50), offset (usize, default 0) | 200; object with sessions (array of list items) and total (integer)',
    'b',
  ],
] as const)('%s', (_row, profile) => {
  const face = PROFILE_DIFFERENCES[profile];
  const list = (query: string) => gateway[profile].get<SessionListWire>(`/sessions${query}`);

  test.each(FILTERS[profile])(
    'query: status "%s" | 200; newest first, and total counts the filter',
    async (query, statuses) => {
      const { status, body } = await list(query);
      expect(status).toBe(200);
      expect(sortedKeys(body)).toEqual(['sessions', 'total']);
      expect(idsOf(body)).toEqual(idsWith(...statuses));
      expect(body.total).toBe(idsWith(...statuses).length);
    },
  );

  test('object with sessions (array of session list items): exactly the fields of the table', async () => {
    const statuses = FILTERS[profile].map(([query]) => query);
    for (const query of statuses) {
      for (const item of (await list(query)).body.sessions) {
        expect(sortedKeys(item)).toEqual(face.item);
        expect(item['created_at']).toMatch(ISO_UTC);
      }
    }
  });

  test('every item carries the word of its own status', async () => {
    const words = { active: 'active', idle: face.idleWord, terminated: face.endedWord };
    const bodies = await Promise.all(FILTERS[profile].map(([query]) => list(query)));
    const shown = new Map(
      bodies.flatMap(({ body }) => body.sessions.map((item) => [idIn(item), item['status']])),
    );
    expect(shown.size).toBe(made.length);
    for (const { id, status } of made) expect(shown.get(id)).toBe(words[status]);
  });

  test('limit (usize), offset (usize) | pages follow each other without gap or repeat, with the same total', async () => {
    const pages = await Promise.all(
      [0, 2, 4, 6].map((offset) => list(`?status=active&limit=2&offset=${offset}`)),
    );
    const whole = (await list('?status=active')).body;
    expect(pages.flatMap(({ body }) => idsOf(body))).toEqual(idsOf(whole).slice(0, 8));
    for (const { body } of pages) expect(body.total).toBe(whole.total);
  });

  test('limit=0 | an empty page with its total', async () => {
    const { status, body } = await list('?limit=0');
    expect([status, body.sessions, body.total > 0]).toEqual([200, [], true]);
  });

  test('offset beyond the end | an empty page with its total', async () => {
    for (const offset of ['100000', String(Number.MAX_SAFE_INTEGER)]) {
      const { status, body } = await list(`?offset=${offset}`);
      expect([status, body.sessions, body.total > 0]).toEqual([200, [], true]);
    }
  });

  test.each(['limit', 'offset'])('%s | digits below 2^53, anything else is 400', async (name) => {
    const wrong = [
      'abc',
      '%205',
      '5%20',
      '-1',
      '%2B1',
      '+1',
      '1e3',
      '0x10',
      '1.0',
      '',
      '9007199254740992',
      'Infinity',
      '١',
    ];
    for (const value of wrong) {
      const answer = await list(`?${name}=${encodeURI(value).replaceAll('%25', '%')}`);
      const error = expectError(profile, answer, 400, 'bad_request');
      expect(error.message).toContain(name);
    }
    expectError(profile, await list(`?${name}=1&${name}=2`), 400, 'bad_request');
    expect((await list(`?${name}=007`)).status).toBe(200);
  });

  test.each([
    'status=Active',
    'status=',
    'status=active&status=active',
    'status=active%20',
    'colour=red',
    'status=sleeping',
  ])('query "%s" is 400', async (query) => {
    expectError(profile, await list(`?${query}`), 400, 'bad_request');
  });
});

describe('with 600 more sessions, all of another channel', () => {
  beforeAll(() =>
    gateway.database.query(
      `INSERT INTO sessions (id, channel, user_id, status, metadata, created_at)
       SELECT 'sess_' || lpad(n::text, 26, '0'), 'crowd', 'crowd', 'active', '{}', now() - interval '1 day' FROM generate_series(1, 600) n`,
    ),
  );

  describe.each([
    [
      '4.1 | GET | /sessions | query: status (active / completed / all), limit (usize, default 50), offset (usize) | 200; object with sessions (array of session list items) and total (integer)',
      'a',
    ],
    [
      '4.2 | GET | /sessions | query: status (String, default active; values active, idle, terminated), channel (String, default all channels), limit (usize, default 50), offset (usize, default 0) | 200; object with sessions (array of list items) and total (integer)',
      'b',
    ],
  ] as const)('%s', (_row, profile) => {
    test('limit (usize, default 50); above 500 is served as 500', async () => {
      for (const [query, length] of [
        ['?limit=501', 500],
        ['?limit=9007199254740991', 500],
        ['?limit=500', 500],
        ['', 50],
      ] as const) {
        const { body } = await gateway[profile].get<SessionListWire>(`/sessions${query}`);
        expect([query, body.sessions.length]).toEqual([query, length]);
        expect(body.total).toBeGreaterThan(600);
      }
    });

    test('offset is 0 when left out', async () => {
      const [whole, from] = await Promise.all(
        ['?limit=5', '?limit=5&offset=0'].map((query) =>
          gateway[profile].get<SessionListWire>(`/sessions${query}`),
        ),
      );
      expect(whole?.body.sessions).toHaveLength(5);
      expect(from?.body).toEqual(whole?.body);
    });
  });

  describe('4.2 | GET | /sessions | query: status (String, default active; values active, idle, terminated), channel (String, default all channels), limit (usize, default 50), offset (usize, default 0) | 200; object with sessions (array of list items) and total (integer)', () => {
    test('channel (String, default all channels): only sessions of that channel, and their total', async () => {
      const crowd = await gateway.b.get<SessionListWire>('/sessions?channel=crowd&limit=3');
      expect(crowd.body.total).toBe(600);
      expect(crowd.body.sessions.map((item) => item['channel'])).toEqual(['crowd', 'crowd', 'crowd']);
      const api = await gateway.b.get<SessionListWire>('/sessions?channel=api');
      expect(idsOf(api.body)).toEqual(idsWith('active'));
      const all = await gateway.b.get<SessionListWire>('/sessions?limit=0');
      expect(all.body.total).toBe(600 + api.body.total);
      const none = await gateway.b.get<SessionListWire>('/sessions?channel=nobody');
      expect(none.body).toEqual({ sessions: [], total: 0 });
      for (const wrong of ['channel=', 'channel=a%20b', 'channel=a&channel=b', `channel=${'c'.repeat(129)}`])
        expectError('b', await gateway.b.get(`/sessions?${wrong}`), 400, 'bad_request');
    });
  });

  test('channel is no filter in Profile A', async () => {
    expectError('a', await gateway.a.get('/sessions?channel=api'), 400, 'bad_request');
  });
});

test('last_activity is the moment of creation until somebody says something', async () => {
  const id = await newSession(gateway.b);
  const { body } = await gateway.b.get<SessionListWire>('/sessions?limit=1');
  const [item] = body.sessions;
  expect(item).toMatchObject({ id, last_activity: item?.['created_at'] });
});

test('message_count counts what the user and the agent said, in list and detail', async () => {
  const id = await newSession(gateway.a);
  await gateway.a.post(`/sessions/${id}/messages`, { content: 'Hello' });
  const { body } = await gateway.a.get<SessionListWire>('/sessions?limit=1');
  expect(body.sessions).toEqual([expect.objectContaining({ session_id: id, message_count: 2 })]);
  const detail = await gateway.a.get<Wire>(`/sessions/${id}`);
  expect(detail.body['message_count']).toBe(2);
});

describe('2.8 | active_sessions | integer', () => {
  test('active_sessions of status, info and metrics equals the total of the active list, and moves at once with create and DELETE', async () => {
    const totals = async () => {
      const [listA, listB, info, status, metrics] = await Promise.all([
        gateway.a.get<SessionListWire>('/sessions?status=active&limit=0'),
        gateway.b.get<SessionListWire>('/sessions?status=active&limit=0'),
        gateway.a.get<Wire>('/info'),
        gateway.b.get<Wire>('/status'),
        gateway.a.get<string>('/metrics'),
      ]);
      const gauge = Number(/^agent_gateway_sessions_active (\d+)$/m.exec(metrics.text)?.[1]);
      expect([info.body['active_sessions'], gauge]).toEqual([listA.body.total, listA.body.total]);
      expect(status.body['active_sessions']).toBe(listB.body.total);
      return [listA.body.total, listB.body.total] as const;
    };
    const [a, b] = await totals();
    const id = await newSession(gateway.b);
    expect(await totals()).toEqual([a + 1, b + 1]);
    await gateway.b.delete(`/sessions/${id}`);
    expect(await totals()).toEqual([a, b]);
  });
});

test('an idle session that time has ended counts as ended before anybody has written that down', async () => {
  const id = await newSession(gateway.b);
  // Locked by another connection, so that the sweeper skips it.
  const holder = new Client({ connectionString: gateway.database.url });
  await holder.connect();
  try {
    const totals = async () => {
      const words = ['idle', 'terminated'];
      const lists = words.map((word) => gateway.b.get<SessionListWire>(`/sessions?status=${word}`));
      return (await Promise.all(lists)).map(({ body }) => [body.sessions.map(idIn).includes(id), body.total]);
    };
    const before = await totals();
    const [idle, ended] = before.map(([, total]) => Number(total));
    await gateway.database.query(
      `UPDATE sessions SET status = 'idle', quiet_since = now() - interval '3597 seconds' WHERE id = $1`,
      [id],
    );
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE', [id]);
    expect(await totals()).toEqual([
      [true, Number(idle) + 1],
      [false, ended],
    ]);
    await sleep(3100);
    expect(await totals()).toEqual([
      [false, idle],
      [true, Number(ended) + 1],
    ]);
    const { rows } = await holder.query<{ status: string }>('SELECT status FROM sessions WHERE id = $1', [
      id,
    ]);
    expect(rows).toEqual([{ status: 'idle' }]);
  } finally {
    await holder.end();
  }
});
