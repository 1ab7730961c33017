import { RouteTable } from '../../src/http/route-table.js';
import { Database } from '../../src/platform/database/database.js';
import { PROFILES } from '../contract/support/faces.js';
import { jsonRequest, RawConnection, request } from '../contract/support/raw-connection.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { canary } from '../harness/canary.js';
import { channelEnv } from '../harness/channels.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench } from '../harness/mcp.js';
import { expectNoSecret } from '../harness/secret-finder.js';
import { IGNORED_HEADERS } from './support/hostile-headers.js';
import { OTHER_QUERIES } from './support/hostile-paths.js';
import { leastRatio } from './support/least-ratio.js';
import { sampled } from './support/mutants.js';

jest.setTimeout(300_000);

/** What answers without a token, on the ports of both profiles; a new page is decided here. */
const OPEN = [
  ...['GET /', 'GET /docs', 'GET /docs/:asset', 'GET /openapi.json', 'GET /asyncapi.json'],
  ...['GET /console', 'GET /console/*path', 'POST /admin/v1/console/sign-in', 'GET /admin/v1/openapi.json'],
  ...['GET /admin/v1/mcp/sign-in/:server/callback', 'GET /admin/v1/mcp/sign-in/:server/client.json'],
  ...['GET /.well-known/oauth-protected-resource', 'GET /.well-known/oauth-protected-resource/mcp'],
  ...['GET /.well-known/agent-card.json', 'GET /.well-known/jwks.json'],
  ...['POST /inbound/:channel', 'POST /inbound/:channel/messages'],
];
const OPERATIONS = ['GET /startupz', 'GET /livez', 'GET /readyz', 'GET /metrics'];
const OWN = {
  a: ['GET /api/v1/health'],
  b: ['GET /api/v1/status/health'],
};

/** What strangers must not learn: secrets, and who and what there is. */
const planted = {
  provider: canary('provider'),
  channel: canary('channel'),
  person: canary('person'),
  said: canary('said'),
  prompt: canary('prompt'),
  plainAgent: canary('agent').replaceAll('-', '_'),
  server: canary('server').replaceAll('-', '_'),
};

type Port = 'a' | 'b' | 'operations';
let bench: McpBench;
let gateway: TestGateway;
let statements: jest.SpyInstance;
beforeAll(async () => {
  bench = await McpBench.make(
    { [planted.server]: { transport: 'http', url: 'http://127.0.0.1:9/mcp', oauth_sign_in: true } },
    `[gateway]
public_url = "https://agents.example.com"
[agents.${planted.plainAgent}]
system_prompt = "${planted.prompt}"
`,
  );
  gateway = await startTestGateway({
    env: {
      ...{ ...bench.env, GATEWAY__PROVIDER__KIND: 'offline', GATEWAY__PROVIDER__API_KEY: planted.provider },
      ...channelEnv('desk', { type: 'webhook', secret: planted.channel, allowed_users: '*' }),
    },
  });
  const { body } = await gateway.b.post<{ id: string }>('/sessions', { user_id: planted.person });
  await gateway.b.post(`/sessions/${body.id}/messages`, { content: planted.said });
  statements = jest.spyOn(Database.prototype, 'query');
});
afterEach(() => {
  expect(gateway.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
afterAll(async () => {
  await gateway.stop();
  statements.mockRestore();
  await bench.clear();
});

interface Page {
  readonly port: Port;
  readonly name: string;
  readonly method: string;
  readonly target: string;
}

/** A route of several paths names the first whole, and the others by what they add. */
function pathsOf(path: string): string[] {
  const [whole = '', ...more] = path.split(',');
  const first = whole.replace(/(.)\/$/, '$1');
  return [first, ...more.map((part) => `${first}/${part}`)];
}

function pages(): Page[] {
  const routes = gateway.started.app.get(RouteTable, { strict: false }).all();
  return routes
    .filter(
      ({ access, listener, method }) =>
        method !== 'ALL' && (access.scope === 'open' || listener === 'operations'),
    )
    .flatMap(({ listener, method, path }) =>
      pathsOf(path).map((one) => ({
        ...{ port: listener, name: `${method} ${one}`, method },
        target: one
          .replace(/:server/, planted.server)
          .replace(/:channel/, 'desk')
          .replace(/:asset/, 'index.css')
          .replace('*path', 'sessions'),
      })),
    );
}

const url = ({ port, target }: Page): string => `http://127.0.0.1:${gateway.started.ports[port]}${target}`;

async function answered(port: Port, bytes: Buffer, bodiless = false) {
  const connection = await RawConnection.open(gateway.started.ports[port]);
  try {
    return await connection.send(bytes).answer({ withinMs: 5000, bodiless });
  } finally {
    connection.close();
  }
}

test('every page that needs no token is decided about', () => {
  const found = (port: Port) =>
    [
      ...new Set(
        pages()
          .filter((page) => page.port === port)
          .map(({ name }) => name),
      ),
    ].sort();
  expect(found('operations')).toEqual([...OPERATIONS].sort());
  for (const profile of PROFILES) expect(found(profile)).toEqual([...OPEN, ...OWN[profile]].sort());
});

test('none of them tells a secret, or more about who and what is there than its purpose needs', async () => {
  const places: Record<string, string> = {};
  for (const page of pages()) {
    const response = await fetch(url(page), { method: page.method, redirect: 'manual' });
    const text = `${[...response.headers].flat().join(' ')} ${await response.text()}`.replaceAll(
      page.target,
      '',
    );
    places[`${page.port} ${page.name}`] = text.padEnd(100);
  }
  // The address of its own page, which is known from the tool server's, says its name.
  const client = Object.keys(places).filter((place) => place.endsWith('client.json'));
  for (const place of client)
    places[place] = (places[place] ?? '').replaceAll(planted.server, '').padEnd(100);
  // Who reads metrics has reached the port of operators.
  const { plainAgent: _agent, server: _server, ...secret } = planted;
  // The card names the agents that others may talk to (docs/a2a.md).
  for (const place of Object.keys(places).filter((one) => one.endsWith('agent-card.json')))
    places[place] = (places[place] ?? '').replaceAll(planted.plainAgent, '');
  for (const [place, text] of Object.entries(places))
    expectNoSecret({ [place]: text }, place.startsWith('operations') ? secret : planted);
});

const METHODS = [
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'TRACE',
  'QUERY',
  'PROPFIND',
  'get',
  'G',
  'X'.repeat(60),
];

test('any other method, with or without a body, is refused, and HEAD says as much as GET', async () => {
  await severalAtOnce(pages(), async ({ port, method, target, name }) => {
    const usual = method === 'GET' ? (await answered(port, request('GET', target))).status : 0;
    for (const other of METHODS.filter((one) => one !== method)) {
      for (const body of ['', '{"a":1}']) {
        const bytes = body === '' ? request(other, target) : jsonRequest(other, target, {}, body);
        const { status } = await answered(port, bytes, other === 'HEAD');
        const allowed = other === 'HEAD' && method === 'GET' ? [usual] : [200, 204, 400, 401, 404, 405, 501];
        expect([port, name, other, allowed.includes(status), status]).toEqual([
          port,
          name,
          other,
          true,
          status,
        ]);
      }
    }
  });
});

test('odd queries and headers turn no answer into a failure', async () => {
  const attacks = pages().flatMap((page) => [
    ...OTHER_QUERIES.map((query) => ({ page, query: `?${query}`, headers: {} })),
    ...IGNORED_HEADERS.map(([, headers]) => ({ page, query: '', headers })),
  ]);
  const codes = new Map<string, number[]>();
  await severalAtOnce(
    sampled(attacks, 800),
    async ({ page: { port, method, target, name }, query, headers }) => {
      const { status } = await answered(
        port,
        request(method, target + query, { 'Content-Length': '0', ...headers }),
      );
      if (status >= 500 && (status < 502 || status > 504)) codes.set(`${port} ${name} ${query}`, [status]);
    },
  );
  expect(Object.fromEntries(codes)).toEqual({});
});

/** Beside the shared limits, whose one statement at a time charges all who wait for it. */
const asked = (): number =>
  (statements.mock.calls as [{ name: string }][]).filter(([{ name }]) => name !== 'rate_limits.consume')
    .length;

/** Statements that are asked anyway, in a second. */
async function quiet(): Promise<number> {
  statements.mockClear();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  return asked() / 1.5;
}

const FLOOD = 150;
/** Most of the largest ratio is the bytes of the largest page, which this process reads, too. */
const MAX_RATIO = 6;

async function flood(page: Page): Promise<{ statements: number; secs: number }> {
  statements.mockClear();
  const startedAt = performance.now();
  await severalAtOnce(Array.from({ length: FLOOD }), async () => {
    const response = await fetch(url(page), { method: page.method, redirect: 'manual' });
    await response.arrayBuffer();
  });
  return { statements: asked(), secs: (performance.now() - startedAt) / 1000 };
}

test('a flood of any of them asks the database next to nothing, and takes less than a few times what a refused request takes', async () => {
  const before = await quiet();
  const refused = { port: 'b', name: 'refused', method: 'GET', target: '/api/v1/sessions' } as const;
  let least = Number.POSITIVE_INFINITY;
  /** What is usual is the same for all pages: the more often it is measured, the less of it is other work. */
  const usual = async () => {
    least = Math.min(least, (await flood(refused)).secs);
    return least;
  };
  for (let warming = 0; warming < 3; warming += 1) await usual();
  const ratios: Record<string, number> = {};
  const asking: Record<string, number> = {};
  for (const page of pages().filter(({ port }) => port !== 'a')) {
    const attack = async (): Promise<number> => {
      const { statements: count, secs } = await flood(page);
      // A scrape has four; those that come at once share them, and how many do is the machine's affair. Nobody else has any.
      const own = page.name === 'GET /metrics' ? 2 * FLOOD : 10;
      if (count > own + 3 * before * secs) asking[page.name] = count;
      return secs;
    };
    const ratio = await leastRatio(attack, usual, MAX_RATIO, 1);
    ratios[page.name] = Math.round(10 * ratio) / 10;
  }
  figure(['bad-input'], { 'open pages': ratios });
  expect(asking).toEqual({});
  expect(Object.entries(ratios).filter(([, ratio]) => ratio >= MAX_RATIO)).toEqual([]);
});
