import type { ErrorCode } from '../../src/common/errors/gateway-error.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { HttpCaller } from '../harness/http-caller.js';
import { expectCommonHeaders, expectError } from './support/envelope.js';
import { newSession, PROFILES } from './support/faces.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__GATEWAY__MAX_BODY_BYTES: '2048' } });
});
afterAll(() => gateway.stop());

const TEXT = { 'content-type': 'text/plain' };
const JSON_TYPE = { 'content-type': 'application/json' };
const LARGE = JSON.stringify({ channel: 'x'.repeat(3000) });

/** docs/specification/silences.md, Order of checks: token, rate, scope, media type and body, validation, existence, state. */
const WRONGS: [
  what: string,
  method: string,
  path: string,
  sent: { raw?: string; headers?: Record<string, string> },
][] = [
  ['unknown path', 'GET', '/nowhere', {}],
  ['unknown version', 'GET', '/../v2/sessions', {}],
  ['wrong method', 'PUT', '/sessions', {}],
  ['bad percent-escape', 'GET', '/sessions/%zz', {}],
  ['URI too long', 'GET', `/sessions?x=${'x'.repeat(9000)}`, {}],
  ['malformed JSON', 'POST', '/sessions', { raw: '{', headers: JSON_TYPE }],
  ['other media type', 'POST', '/sessions', { raw: 'x', headers: TEXT }],
  ['body too large', 'POST', '/sessions', { raw: LARGE, headers: JSON_TYPE }],
  ['wrong query', 'GET', '/sessions?limit=x', {}],
];

describe.each(PROFILES)('Profile %s', (profile) => {
  test.each(WRONGS)('401 comes before everything: %s', async (_what, method, path, sent) => {
    const answer = await gateway.caller(profile, undefined).send(method, path, sent);
    expectError(profile, answer, 401, 'unauthorized');
    expectCommonHeaders(answer);
  });

  test.each<[string, number, ErrorCode, string, string, { raw?: string; headers?: Record<string, string> }]>([
    ['unknown path', 404, 'not_found', 'GET', '/nowhere', {}],
    ['unknown version', 404, 'not_found', 'GET', '/../v2/sessions', {}],
    ['a path outside /api', 404, 'not_found', 'GET', '/../../sessions', {}],
    ['wrong method', 405, 'bad_request', 'PUT', '/sessions', {}],
    ['malformed JSON', 400, 'bad_request', 'POST', '/sessions', { raw: '{', headers: JSON_TYPE }],
    ['other media type', 415, 'bad_request', 'POST', '/sessions', { raw: 'x', headers: TEXT }],
    [
      'a body without media type',
      415,
      'bad_request',
      'POST',
      '/sessions',
      { raw: '{}', headers: { 'content-type': '' } },
    ],
    ['body too large', 413, 'bad_request', 'POST', '/sessions', { raw: LARGE, headers: JSON_TYPE }],
  ])(
    'with a token: %s is %i %s, with the headers of every answer',
    async (_what, status, code, method, path, sent) => {
      const answer = await gateway[profile].send(method, path, sent);
      expectError(profile, answer, status, code);
      expectCommonHeaders(answer);
    },
  );

  test('403 comes before 415, 413 and 400', async () => {
    const reader = gateway.caller(profile, await gateway.mint({ scopes: ['sessions:read'] }));
    for (const sent of [
      { raw: 'x', headers: TEXT },
      { raw: '{', headers: JSON_TYPE },
      { raw: LARGE, headers: JSON_TYPE },
    ])
      expectError(profile, await reader.send('POST', '/sessions', sent), 403, 'forbidden');
    const writer = gateway.caller(profile, await gateway.mint({ scopes: ['sessions:write'] }));
    expectError(profile, await writer.get('/sessions?limit=x'), 403, 'forbidden');
  });

  test('415 comes before 413, and both before what the body says', async () => {
    expectError(
      profile,
      await gateway[profile].send('POST', '/sessions', { raw: LARGE, headers: TEXT }),
      415,
      'bad_request',
    );
    expectError(
      profile,
      await gateway[profile].send('POST', '/sessions', { raw: `{${LARGE}`, headers: JSON_TYPE }),
      413,
      'bad_request',
    );
  });

  test('validation comes before existence, existence before state', async () => {
    const id = await newSession(gateway[profile]);
    await gateway[profile].delete(`/sessions/${id}`);
    const send = (session: string, body: unknown) =>
      gateway[profile].post(`/sessions/${session}/messages`, body);
    expectError(profile, await send('sess_nobody', { content: 1 }), 400, 'bad_request');
    expectError(profile, await send('sess_nobody', { content: 'x' }), 404, 'not_found');
    expectError(profile, await send(id, { content: 1 }), 400, 'bad_request');
    expectError(profile, await send(id, { content: 'x' }), 409, 'conflict');
    const bound: HttpCaller = gateway.caller(profile, await gateway.mint({ user: 'somebody else' }));
    expectError(profile, await bound.delete(`/sessions/${id}`), 404, 'not_found');
  });

  test('405 names the methods that the path answers to', async () => {
    const allowed: [string, string, string][] = [
      ['PUT', '/sessions', 'GET, HEAD, POST'],
      ['POST', '/sessions/sess_x', 'DELETE, GET, HEAD'],
      ['DELETE', '/sessions/sess_x/messages', 'GET, HEAD, POST'],
      ['POST', profile === 'a' ? '/health' : '/status/health', 'GET, HEAD'],
      ['OPTIONS', '/sessions', 'GET, HEAD, POST'],
    ];
    for (const [method, path, allow] of allowed) {
      const answer = await gateway[profile].send(method, path);
      expectError(profile, answer, 405, 'bad_request');
      expect([path, answer.headers.get('allow')]).toEqual([path, allow]);
    }
  });

  test('a route of the other profile is 404, as is a path that only it has', async () => {
    const foreign =
      profile === 'a'
        ? ['/status', '/status/health', '/mcp', '/channels/api/health']
        : ['/health', '/info', '/metrics', '/mcp/tools'];
    for (const path of foreign) expectError(profile, await gateway[profile].get(path), 404, 'not_found');
    const other = profile === 'a' ? 'b' : 'a';
    const messageOf = async (path: string) =>
      (await gateway[profile].get<{ error: { message: string } }>(path)).body.error.message;
    for (const path of foreign)
      expect(await messageOf(path)).toContain(
        `It belongs to Profile ${other.toUpperCase()}, on port ${gateway.started.ports[other]}.`,
      );
    expect(await messageOf('/nowhere')).toMatch(/^There is no such path here\./);
  });
});

test('X-Request-Id | a sound one is echoed, any other replaced', async () => {
  const idFor = async (sent: string) => {
    const answer = await gateway.b.get('/sessions', { 'x-request-id': sent });
    return answer.headers.get('x-request-id');
  };
  for (const sound of ['abc-123', 'a', '550e8400-e29b-41d4-a716-446655440000', 'x'.repeat(64)])
    expect(await idFor(sound)).toBe(sound);
  for (const unsound of ['', 'a b', 'x'.repeat(65), 'né', '<script>', 'a,b'])
    expect(await idFor(unsound)).toMatch(/^req_[0-9a-z]{26}$/);
});

test('a request without X-Request-Id gets one of its own, on every answer, 204 included', async () => {
  const id = await newSession(gateway.a);
  const answers = [
    await gateway.a.get(`/sessions/${id}`),
    await gateway.a.get('/nowhere'),
    await gateway.a.delete(`/sessions/${id}`),
    await gateway.a.get('/health'),
  ];
  for (const answer of answers) expectCommonHeaders(answer);
  expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(4);
});
