import { hostname } from 'node:os';
import { NameResolver, type SystemNameResolver } from '../../src/platform/outbound/name-resolver.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { hostileHosts } from './support/hostile-hosts.js';

/** Listeners on one port that must never be reached, and a receiver that may be reached and redirects to them. */
let blocked: HookReceiver[];
let redirector: HookReceiver;
let database: TestDatabase;
let gateway: TestGateway;
const ALLOWED = '127.0.0.77';

beforeAll(async () => {
  const first = await HookReceiver.open();
  const others = ['127.0.0.2', '::1'].map((host) => HookReceiver.open(first.port, host));
  blocked = [first, ...(await Promise.all(others))];
  redirector = await HookReceiver.open(0, ALLOWED);
  database = await createTestDatabase();
  gateway = await startTestGateway({
    database,
    env: {
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'never',
      GATEWAY__SECURITY__ALLOW_PRIVATE_NETWORKS: `${ALLOWED}/32`,
      GATEWAY__HOOKS__TIMEOUT_MS: '3000',
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([...blocked, redirector].map((receiver) => receiver.close()));
  await database.drop();
});

const port = (): number => blocked[0]?.port ?? 0;
const reached = (): number => blocked.reduce((sum, { connections }) => sum + connections, 0);

const urls = (): string[] =>
  [...hostileHosts, hostname()].flatMap((host) => [
    `http://${host}:${port()}/x`,
    `https://${host}:${port()}/x`,
  ]);

/** Skips the check at registration: the delivery itself must refuse. */
async function smuggle(url: string, name: string): Promise<void> {
  await database.query(`INSERT INTO hooks (id, url, events) VALUES ($1, $2, '{session.created}')`, [
    name,
    url,
  ]);
  await database.query(`INSERT INTO hook_lanes (hook_id) VALUES ($1)`, [name]);
}

const outcomes = (prefix: string) =>
  database.query<{ url: string; last_error: string | null }>(
    `SELECT url, last_error FROM hook_deliveries JOIN hooks ON hooks.id = hook_id
     WHERE hook_id LIKE $1 ORDER BY hook_deliveries.id`,
    [`${prefix}%`],
  );

afterEach(async () => {
  await database.query('DELETE FROM hooks');
  await database.query('DELETE FROM hook_deliveries');
});

test('more than 150 URLs that lead to this machine or its neighbours are refused at registration, with the rule and not what was found', async () => {
  expect(urls().length).toBeGreaterThanOrEqual(150);
  for (const url of urls()) {
    const answer = await gateway.b.post<{ error: { message: string } }>('/hooks', { url, events: ['*'] });
    expect([url, answer.status]).toEqual([url, 400]);
    expect(answer.body.error.message).toMatch(/^url: must (lead to a public address|be a URL|be an http)/);
  }
  expect(reached()).toBe(0);
});

test('the same URLs, had they been registered, are refused at delivery: nothing connects', async () => {
  for (const [index, url] of urls().entries()) await smuggle(url, `hostile_${index}`);
  await gateway.a.post('/sessions', {});
  await eventually(async () => {
    const told = await outcomes('hostile');
    expect(told).toHaveLength(urls().length);
    expect(told.filter(({ last_error }) => last_error === null)).toEqual([]);
  }, 30_000);
  figure(['no-private-address'], { urls: urls().length, reached: reached() });
  for (const { url, last_error } of await outcomes('hostile')) {
    expect([url, last_error]).toEqual([url, expect.stringMatching(/^refused_(address|url)$/)]);
  }
  expect(reached()).toBe(0);
});

test('a name that is public when it is checked and private when it is connected to reaches nothing', async () => {
  const names = gateway.started.app.get<SystemNameResolver>(NameResolver, { strict: false });
  const ask = names.ask;
  const asked: string[] = [];
  names.ask = async (name) => {
    asked.push(name);
    return asked.length === 1 ? ['93.184.216.34'] : ['127.0.0.1'];
  };
  const answer = await gateway.a.post('/hooks', {
    url: `http://rebinding.example:${port()}/x`,
    events: ['session.created'],
  });
  expect(answer.status).toBe(201);
  await new Promise((resolve) => setTimeout(resolve, 5100));
  await gateway.a.post('/sessions', {});
  await eventually(async () => expect((await outcomes('hook_'))[0]?.last_error).toBe('refused_address'));
  names.ask = ask;
  expect(asked).toEqual(['rebinding.example', 'rebinding.example']);
  expect(reached()).toBe(0);
}, 20_000);

test.each([301, 302, 303, 307, 308])(
  'a redirect with %d is a failure and is not followed',
  async (status) => {
    redirector.behaviour = (_attempt, response) => {
      response.writeHead(status, { location: `http://127.0.0.1:${port()}/inside` }).end();
      return 'handled';
    };
    const before = redirector.attempts.length;
    await smuggle(`http://${ALLOWED}:${redirector.port}/out`, `redirect_${status}`);
    await gateway.a.post('/sessions', {});
    await eventually(async () => expect((await outcomes('redirect'))[0]?.last_error).toBe(`http_${status}`));
    expect(redirector.attempts).toHaveLength(before + 1);
    expect(reached()).toBe(0);
  },
);
