import type { ProfileId } from '../../src/http/profiles/profile.js';
import { SPECIFICATION_ROUTES } from '../architecture/specification-routes.js';
import { PROFILES } from '../contract/support/faces.js';
import { jsonRequest, request } from '../contract/support/raw-connection.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { HOSTILE_BODIES, WRONG_VALUES } from './support/hostile-bodies.js';
import { HostileGateway, LONG, MAX_BODY_BYTES } from './support/hostile-gateway.js';

let hostile: HostileGateway;
beforeAll(async () => {
  hostile = await HostileGateway.start();
});
afterEach(() => hostile.expectUnharmed());
afterAll(() => hostile.stop());

const bodyRoutes = (profile: ProfileId) => hostile.routes(profile).filter(({ takesBody }) => takesBody);

describe.each(PROFILES)('every route of Profile %s that takes a body', (profile) => {
  test('is one that the specification gives a body', () => {
    expect(bodyRoutes(profile)).toHaveLength(SPECIFICATION_ROUTES[profile].filter(({ body }) => body).length);
  });

  test.each(HOSTILE_BODIES)('refuses $what with $status', async ({ bodies, headers = {}, status }) => {
    const sent = { ...hostile.authorization, ...headers };
    const requests = bodyRoutes(profile).flatMap((route) =>
      bodies.map((body) => jsonRequest(route.method, hostile.target(route), sent, body)),
    );
    await severalAtOnce(requests, (bytes) => hostile.refuses(profile, bytes, status));
  });

  test('refuses a chunked body that grows too large, and one whose length is a lie', async () => {
    const headers = { ...hostile.authorization, 'Content-Type': 'application/json' };
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const requests = bodyRoutes(profile).flatMap((route) => {
      const sent = (framing: object, body: string) =>
        request(route.method, hostile.target(route), { ...headers, ...framing }, body);
      return [
        sent({ 'Transfer-Encoding': 'chunked' }, chunk.repeat(10)),
        sent({ 'Content-Length': '99999999999' }, '{}'),
        sent({ 'Content-Length': '9'.repeat(18) }, '{}'),
      ];
    });
    await severalAtOnce(requests, (bytes) => hostile.refuses(profile, bytes, 413));
  });

  test('refuses a chunked body that is empty or broken', async () => {
    const headers = {
      ...hostile.authorization,
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
    };
    const broken = [
      '0\r\n\r\n',
      'zz\r\n{}\r\n0\r\n\r\n',
      '-1\r\n{}\r\n',
      '3\r\n{}\r\n0\r\n\r\n',
      '2;x=\x01\r\n{}\r\n0\r\n\r\n',
    ];
    const requests = bodyRoutes(profile).flatMap((route) =>
      broken.map((chunks) => request(route.method, hostile.target(route), headers, chunks)),
    );
    await severalAtOnce(requests, (bytes) => hostile.refuses(profile, bytes, 400));
  });

  test('refuses a body in a transfer coding that it does not know', async () => {
    const headers = {
      ...hostile.authorization,
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'gzip, chunked',
    };
    await severalAtOnce(bodyRoutes(profile), (route) =>
      hostile.refuses(
        profile,
        request(route.method, hostile.target(route), headers, '2\r\n{}\r\n0\r\n\r\n'),
        415,
      ),
    );
  });

  test('refuses every field with a value that is not of its kind', async () => {
    for (const route of bodyRoutes(profile)) {
      const name = `${route.method} ${route.path.replace('/api/v1', '')}`;
      const wrong = WRONG_VALUES[`${profile} ${name}`] ?? WRONG_VALUES[name];
      expect([name, wrong]).toEqual([name, expect.anything()]);
      const bodies = Object.entries(wrong?.fields ?? {}).flatMap(([field, values]) =>
        values.map((value) => JSON.stringify({ ...wrong?.base, [field]: value })),
      );
      await severalAtOnce(bodies, (body) =>
        hostile.refuses(
          profile,
          jsonRequest(route.method, hostile.target(route), hostile.authorization, body),
          400,
        ),
      );
    }
  });
});

describe.each(PROFILES)('every route of Profile %s that takes a parameter', (profile) => {
  const paramRoutes = () => hostile.routes(profile).filter(({ path }) => path.includes(':'));
  const send = (value: string, ...statuses: number[]) =>
    Promise.all(
      paramRoutes().map((route) => {
        const body = route.path.endsWith('/messages') ? '{"content":"Hello"}' : '{}';
        const bytes = route.takesBody
          ? jsonRequest(route.method, hostile.target(route, value), hostile.authorization, body)
          : request(route.method, hostile.target(route, value), hostile.authorization);
        return hostile.refuses(profile, bytes, ...statuses);
      }),
    );

  test.each([
    '%',
    '%z',
    '%zz',
    '%ff',
    '%c0%80',
    '%ed%a0%80',
    '%e2%82',
    '%00',
    'a%00b',
    '%0d%0a',
    '%7f',
    '%1b',
    '%u0041',
  ])('refuses %s with 400', async (value) => {
    await send(value, 400);
  });

  const strangeNames = [
    'nobody',
    '..',
    '.',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e',
    '%25',
    "'%20OR%201=1--",
    '%22;DROP%20TABLE%20sessions',
    '__proto__',
    'constructor',
    'toString',
    '%5B%5D',
    '*',
    '%F0%9F%9C%81',
    'null',
    '-1',
    LONG,
    `sess_${'0'.repeat(26)}`,
    `sess_${LONG}`,
    'x'.repeat(4000),
  ];
  test.each(strangeNames.map((value) => [value.slice(0, 40), value]))(
    'answers the unknown parameter %s with 404',
    async (_name, value) => {
      await send(value, 404);
    },
  );
});

describe.each(PROFILES)('every route of Profile %s', (profile) => {
  test.each([
    '?%',
    '?a=%zz',
    '?a=%ff',
    '?%ff=a',
    '?a=%00',
    '?a=b&c=%ed%a0%80',
    '?a=%0d%0aX: y'.replace(' ', ''),
  ])('refuses the query %s with 400', async (query) => {
    await severalAtOnce(hostile.routes(profile), (route) =>
      hostile.refuses(
        profile,
        request(route.method, hostile.target(route) + query, hostile.authorization),
        400,
      ),
    );
  });

  test('refuses a URI of 9 KB with 414, and headers of 20 KB with 431', async () => {
    const headers = { ...hostile.authorization, 'X-Large': 'x'.repeat(20_000) };
    await severalAtOnce(hostile.routes(profile), async (route) => {
      const target = hostile.target(route);
      await hostile.refuses(
        profile,
        request(route.method, `${target}?${'x'.repeat(9000)}`, hostile.authorization),
        414,
      );
      await hostile.refuses(profile, request(route.method, target, headers), 431);
    });
  });

  test('answers a method that it has not with 405 and the methods that it has', async () => {
    const routes = hostile.routes(profile);
    const paths = [...new Set(routes.map((route) => route.path))];
    await severalAtOnce(paths, async (path) => {
      const own = routes.filter((route) => route.path === path);
      const methods = own.map(({ method }) => method);
      const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort();
      const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH'];
      for (const method of others.filter((other) => !allowed.includes(other))) {
        const answer = await hostile.refuses(
          profile,
          request(method, hostile.target(own[0]!), hostile.authorization),
          405,
        );
        expect([method, path, answer.headers.get('allow')]).toEqual([method, path, allowed.join(', ')]);
      }
    });
  });

  test('answers HEAD as it answers GET, without a body', async () => {
    const read = hostile
      .routes(profile)
      .filter(({ method, path }) => method === 'GET' && !path.endsWith('/stream'));
    await severalAtOnce(read, async (route) => {
      const target = hostile.target(route);
      const get = await hostile.send(profile, request('GET', target, hostile.authorization));
      const head = await hostile.send(profile, request('HEAD', target, hostile.authorization), {
        bodiless: true,
      });
      expect([target, head.status, head.text]).toEqual([target, get.status, '']);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    });
  });

  test('does not exist by another spelling', async () => {
    const spellings = [
      '//api/v1/sessions',
      '/api//v1/sessions',
      '/api/v1//sessions',
      '/api/v1/sessions//',
      '/api/v1',
      '/api',
      '/api/v1/',
      '/api/v2/sessions',
      '/api/v1/./sessions',
      '/api/v1/../v1/sessions',
      '/api/v1%2fsessions',
      '/api/v1/sessions;x=1',
      '/api/v1/sessions.json',
      '/api/v1/session%73%20',
      '/index.html',
      '/.env',
      '/.git/config',
      '/favicon.ico',
      '/metrics',
      '/livez',
      `/${LONG}`,
      '/api/v1/__proto__',
      '/api/v1/constructor',
      '*',
    ];
    await severalAtOnce(spellings, (target) =>
      hostile.refuses(profile, request('GET', target, hostile.authorization), 404),
    );
  });

  test('answers a caller without a valid token with 401, whatever else is wrong', async () => {
    const guarded = hostile.routes(profile).filter(({ access }) => access.scope !== 'open');
    await severalAtOnce(guarded, async (route) => {
      const target = hostile.target(route);
      await hostile.refuses(profile, jsonRequest(route.method, target, {}, '{'), 401);
      await hostile.refuses(profile, request(route.method, `${target}?%zz`), 401);
      await hostile.refuses(profile, request(route.method, target, { Authorization: `Bearer ${LONG}` }), 401);
      await hostile.refuses(profile, request(route.method, target, { Authorization: '\xff\xfe' }), 401);
    });
  });
});

describe.each(PROFILES)('every route of Profile %s that takes a query', (profile) => {
  const wrongQueries = (names: readonly string[]): string[] => [
    ...names.flatMap((name) => [
      `${name}=`,
      `${name}=%20`,
      `${name}=${LONG}`,
      `${name}=1&${name}=1`,
      `${name}[]=1`,
      `${name}[a]=1`,
      name,
    ]),
    ...names.map((name) => `${name.toUpperCase()}=1`),
    'no_such_parameter=1',
    `${LONG}=${LONG}`,
    '__proto__=1',
    'constructor=1',
    'toString=1',
    'hasOwnProperty=1',
    '=1',
    'a[b][c]=1',
  ];

  test.each(SPECIFICATION_ROUTES[profile].filter(({ query }) => query !== undefined))(
    '$method $path',
    async ({ path, query = [] }) => {
      const route = hostile
        .routes(profile)
        .find((one) => one.method === 'GET' && one.path === `/api/v1${path}`);
      expect(route).toBeDefined();
      await severalAtOnce(wrongQueries(query), (wrong) =>
        hostile.refuses(
          profile,
          request('GET', `${hostile.target(route!)}?${wrong}`, hostile.authorization),
          400,
        ),
      );
    },
  );
});

test('a body of exactly the limit is read: its fields are what is wrong with it', async () => {
  const body = `{"a":"${'x'.repeat(MAX_BODY_BYTES - 8)}"}`;
  expect(Buffer.byteLength(body)).toBe(MAX_BODY_BYTES);
  for (const profile of PROFILES)
    await hostile.refuses(profile, jsonRequest('POST', '/api/v1/sessions', hostile.authorization, body), 400);
});

test('a byte order mark, a charset of UTF-8 and a structured suffix are taken', async () => {
  const types = [
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
    'application/merge-patch+json',
  ];
  for (const profile of PROFILES) {
    for (const type of types) {
      const sent = { ...hostile.authorization, 'Content-Type': type, 'Content-Encoding': 'identity' };
      const answer = await hostile.refuses(
        profile,
        jsonRequest('POST', '/api/v1/sessions', sent, '\ufeff{"channel":"pigeon"}'),
        400,
      );
      expect(answer.text).toContain('configured channel');
    }
  }
});
