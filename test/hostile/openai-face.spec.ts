import { type Route, RouteTable } from '../../src/http/route-table.js';
import { SCOPES, type Scope } from '../../src/platform/tokens/scopes.js';
import { jsonRequest, type RawAnswer, request } from '../contract/support/raw-connection.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { HostileGateway, LONG, MAX_BODY_BYTES } from './support/hostile-gateway.js';
import { presentationsOf } from './support/presentations.js';

/** Who may use which route of `/v1`. A new route must be decided here. */
const DECIDED: Readonly<Record<string, Scope>> = {
  'GET /v1/models': 'sessions:read',
  'GET /v1/models/:model': 'sessions:read',
  'POST /v1/chat/completions': 'sessions:write',
  'POST /v1/responses': 'sessions:write',
  'GET /v1/responses/:id': 'sessions:read',
  'GET /v1/responses/:id/input_items': 'sessions:read',
  'POST /v1/responses/:id/cancel': 'sessions:write',
  'DELETE /v1/responses/:id': 'sessions:write',
};
const NOBODYS = `resp_${'0'.repeat(9)}0e${'0'.repeat(2)}8${'0'.repeat(12)}`;

let hostile: HostileGateway;
beforeAll(async () => {
  hostile = await HostileGateway.start();
});
afterEach(() => hostile.expectUnharmed());
afterAll(() => hostile.stop());

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

function routes(): Route[] {
  const all = hostile.gateway.started.app.get(RouteTable, { strict: false }).all();
  return all.filter(({ listener, path }) => listener === 'a' && path.startsWith('/v1/'));
}

function bytesFor(route: Route, headers: Readonly<Record<string, string>>, query = '', body = '{}'): Buffer {
  const target = route.path.replace(':id', NOBODYS).replace(':model', 'nobody') + query;
  return route.takesBody
    ? jsonRequest(route.method, target, headers, body)
    : request(route.method, target, headers);
}

/** Checks an error as clients of OpenAI's API read it; it must not echo anything long. */
function expectOpenAiError(answer: RawAnswer, param?: string | null): void {
  const { error } = JSON.parse(answer.text) as { error: Record<string, unknown> };
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
  if (param !== undefined) expect([answer.status, error['param']]).toEqual([answer.status, param]);
  expect(answer.text).not.toContain(LONG.slice(0, 65));
}

test('every route of /v1 is decided about', () => {
  expect(routes().map(nameOf).sort()).toEqual(Object.keys(DECIDED).sort());
});

test('whatever way a token is presented but the one that counts, it is 401 and nothing happens', async () => {
  const ways = await presentationsOf(hostile.gateway);
  await hostile.note();
  const requests = routes().flatMap((route) =>
    ways.map(([headers, query]) => bytesFor(route, headers, query)),
  );
  await severalAtOnce(requests, async (bytes) => {
    const answer = await hostile.send('a', bytes);
    expect([answer.status, bytes.toString('latin1').slice(0, 200)]).toEqual([
      401,
      bytes.toString('latin1').slice(0, 200),
    ]);
    expectOpenAiError(answer, null);
  });
}, 60_000);

test('with one scope alone a route is open where that scope is asked for, and 403 everywhere else', async () => {
  const granted: [Scope, string][] = [];
  for (const scope of SCOPES) granted.push([scope, await hostile.gateway.mint({ scopes: [scope] })]);
  await hostile.note();
  const pairs = routes().flatMap((route) => granted.map(([scope, token]) => ({ route, scope, token })));
  await severalAtOnce(pairs, async ({ route, scope, token }) => {
    const answer = await hostile.send('a', bytesFor(route, { Authorization: `Bearer ${token}` }));
    const isLetIn = answer.status !== 401 && answer.status !== 403;
    expect([nameOf(route), scope, isLetIn]).toEqual([nameOf(route), scope, DECIDED[nameOf(route)] === scope]);
    expect(answer.status).toBeLessThan(500);
    if (!isLetIn) expectOpenAiError(answer);
  });
}, 60_000);

const response = { model: 'default', input: 'x' };
const chat = { model: 'default', messages: [{ role: 'user', content: 'x' }] };
const tool = { type: 'function', name: 't', parameters: {} };

test.each<[string, string, object, string]>([
  ['/v1/responses', 'a field that is unknown', { ...response, surprise: 1 }, 'surprise'],
  [
    '/v1/responses',
    'one deep within',
    { ...response, text: { format: { type: 'text', x: 1 } } },
    'text.format.x',
  ],
  ['/v1/responses', 'a long name', { ...response, [LONG]: 1 }, `${LONG.slice(0, 125)}...`],
  ['/v1/responses', 'a model of another type', { ...response, model: 1 }, 'model'],
  ['/v1/responses', 'a model with a long name', { ...response, model: LONG }, 'model'],
  [
    '/v1/responses',
    'an id of another type',
    { ...response, previous_response_id: {} },
    'previous_response_id',
  ],
  ['/v1/responses', 'a long id', { ...response, previous_response_id: LONG }, 'previous_response_id'],
  [
    '/v1/responses',
    'an id with a quote',
    { ...response, previous_response_id: "resp_'--" },
    'previous_response_id',
  ],
  ['/v1/responses', "nobody's id", { ...response, previous_response_id: NOBODYS }, 'previous_response_id'],
  ['/v1/responses', 'store of another type', { ...response, store: 'yes' }, 'store'],
  ['/v1/responses', 'background of another type', { ...response, background: 1 }, 'background'],
  [
    '/v1/responses',
    'metadata with a long key',
    { ...response, metadata: { [LONG]: 'x' } },
    `metadata.${LONG.slice(0, 116)}...`,
  ],
  ['/v1/responses', 'an item of no type', { ...response, input: [{}] }, 'input[0]'],
  [
    '/v1/responses',
    'more tools than there may be',
    { ...response, tools: Array.from({ length: 129 }, (_, n) => ({ ...tool, name: `t${n}` })) },
    'tools',
  ],
  ['/v1/responses', 'a tool twice', { ...response, tools: [tool, tool] }, 'tools[1].name'],
  [
    '/v1/responses',
    'arguments that are no JSON',
    { ...response, input: [{ type: 'function_call', call_id: 'c', name: 't', arguments: '{' }] },
    'input[0].arguments',
  ],
  [
    '/v1/responses',
    'a private address',
    {
      ...response,
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'file:///etc/passwd' }] }],
    },
    'input[0].content[0].image_url',
  ],
  ['/v1/chat/completions', 'a field that is unknown', { ...chat, surprise: 1 }, 'surprise'],
  ['/v1/chat/completions', 'no messages', { ...chat, messages: [] }, 'messages'],
  [
    '/v1/chat/completions',
    'a message of no role',
    { ...chat, messages: [{ content: 'x' }] },
    'messages[0].role',
  ],
])('%s: %s is refused by name', async (path, _what, body, param) => {
  const bytes = jsonRequest('POST', path, hostile.authorization, JSON.stringify(body));
  const answer = await hostile.send('a', bytes);
  expect([400, 404]).toContain(answer.status);
  const { error } = JSON.parse(answer.text) as { error: { param: string } };
  expect(error.param.startsWith(param.slice(0, 9))).toBe(true);
  expect(error.param.length).toBeLessThanOrEqual(128);
});

test('bodies that are too large, no JSON, or of another type are refused in the same shape', async () => {
  const headers = hostile.authorization;
  const large = JSON.stringify({ ...response, input: 'x'.repeat(MAX_BODY_BYTES) });
  for (const path of ['/v1/responses', '/v1/chat/completions']) {
    const sent: [string, Buffer][] = [
      ['413', jsonRequest('POST', path, headers, large)],
      ['400', jsonRequest('POST', path, headers, '{"model":')],
      ['400', jsonRequest('POST', path, headers, '[]')],
      ['415', request('POST', path, { ...headers, 'Content-Type': 'text/plain', 'Content-Length': '0' })],
    ];
    for (const [status, bytes] of sent) {
      const answer = await hostile.send('a', bytes);
      expect([path, String(answer.status)]).toEqual([path, status]);
      expectOpenAiError(answer);
    }
  }
});

test.each([
  "resp_'; DROP TABLE responses; --",
  '%00',
  '..%2f..%2fadmin',
  LONG,
  `resp_${'z'.repeat(26)}`,
  '%F0%9F%92%A9',
])('an id that cannot be one is not found: %s', async (id) => {
  const path = `/v1/responses/${id.replaceAll(' ', '%20')}`;
  for (const bytes of [
    request('GET', path, hostile.authorization),
    request('DELETE', path, hostile.authorization),
    request('POST', `${path}/cancel`, hostile.authorization),
  ]) {
    const answer = await hostile.send('a', bytes);
    expect([400, 404]).toContain(answer.status);
    expectOpenAiError(answer);
  }
});
