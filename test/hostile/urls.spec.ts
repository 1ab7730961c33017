import { randomUUID } from 'node:crypto';
import { ConnectorKeys } from '../../src/areas/channels/adapters/teams/teams-keys.js';
import { TokenExchange } from '../../src/areas/mcp/identity/token-exchange.js';
import { KeyFetcher } from '../../src/platform/identity/key-fetcher.js';
import { OutboundClient } from '../../src/platform/outbound/outbound-client.js';
import { Settings } from '../../src/platform/settings/settings.js';
import { channelEnv, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { AUDIENCE } from '../harness/identity.js';
import { postSigned } from '../harness/inbound.js';
import { McpBench } from '../harness/mcp.js';
import { type Posting, TestTeams, teamsEnv } from '../harness/teams.js';
import { MisleadingServer } from './support/misleading-server.js';

jest.setTimeout(120_000);

/**
 * Targets that must never be reached: internal listeners and the metadata services of clouds. The operator allows
 * 127.0.0.1.
 */
const INSIDE = ['127.0.0.2', '2130706434', '0x7f.2', '[::ffff:127.0.0.2]', '[::1]', '0.0.0.0'];
const CLOUDS = ['169.254.169.254', '[fd00:ec2::254]', '100.100.100.200', '192.0.0.192', '10.0.0.1'];
const SECRET = 'a secret of eight and more';
const PUBLIC_URL = 'https://agents.example.com';

let inside: HookReceiver[];
let misleading: MisleadingServer;
let teams: TestTeams;
let bench: McpBench;
let gateway: TestGateway;
let tried = 0;

beforeAll(async () => {
  const first = await HookReceiver.open(0, '127.0.0.2');
  inside = [first, await HookReceiver.open(first.port, '::1')];
  for (const receiver of inside)
    receiver.behaviour = (_attempt, response) => {
      response.end('{"inside":"the secret of the inside"}');
      return 'handled';
    };
  [misleading, teams] = await Promise.all([MisleadingServer.open(), TestTeams.start()]);
  const server = { transport: 'http', url: `${misleading.url}/mcp`, enabled: true };
  bench = await McpBench.make(
    {
      crm: { ...server, oauth_sign_in: true },
      swapped: {
        ...{ ...server, enabled: false, identity: 'exchange', oauth_issuer: misleading.url },
        ...{ oauth_client_id: 'gateway', oauth_client_secret_env: 'SWAP_SECRET' },
      },
    },
    `[gateway]
public_url = "${PUBLIC_URL}"
[security]
allow_loopback = "never"
allow_private_networks = ["127.0.0.1/32"]
[multimodal]
allow_remote_fetch = true
[auth.jwt.corp]
issuer = "${misleading.url}"
audience = "${AUDIENCE}"
[auth.jwt.corp.roles]
"staff" = { preset = "admin" }
`,
  );
  gateway = await startTestGateway({
    env: {
      ...{ ...bench.env, SWAP_SECRET: 'secret', GATEWAY__PROVIDER__KIND: 'offline' },
      ...{ GATEWAY__SECURITY__ALLOW_LOOPBACK: 'never', ...teamsEnv(teams) },
      ...channelEnv('desk', { type: 'webhook', secret: SECRET, allowed_users: '*' }),
    },
  });
});
beforeEach(() => {
  misleading.says = {};
});
/** Nothing was reached, whatever pointed there. */
afterEach(() => {
  expect(inside.reduce((sum, { connections }) => sum + connections, 0)).toBe(0);
  expect(gateway.logLines.filter((line) => line.includes('unexpected error'))).toEqual([]);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([misleading.close(), teams.stop(), ...inside.map((one) => one.close())]);
  await bench.clear();
  figure(['no-private-address'], { tried, reached: 0 });
});

/**
 * With `HOSTILE_RUNS`, all of them everywhere; otherwise each step uses every fourth one, starting with another one
 * each time.
 */
const STEP = process.env['HOSTILE_RUNS'] === undefined ? 4 : 1;
let turn = 0;
const urls = (): string[] => {
  turn += 1;
  const all = [...INSIDE, ...CLOUDS].flatMap((host) =>
    ['http', 'https'].map((scheme) => `${scheme}://${host}:${inside[0]?.port}/x`),
  );
  return all.filter((_url, index) => (index + turn) % STEP === 0);
};

/** Tries each of these URLs, and checks that the response reveals nothing from the inside. */
async function each(lead: (url: string) => Promise<string>): Promise<void> {
  for (const url of urls()) {
    expect([url, (await lead(url)).includes('the secret of the inside')]).toEqual([url, false]);
    tried += 1;
  }
}

const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (done) => {
      throw new Error(`It was done: ${JSON.stringify(done)}`);
    },
    (error: unknown) => String(error),
  );

/** Points elsewhere with a document, by one of its values or by a redirect. */
const metadata = (says: object) => ({ 'oauth-authorization-server': says, 'openid-configuration': says });
const redirected = (url: string) => ({ 'oauth-authorization-server': url, 'openid-configuration': url });

describe('the sign-in to a tool server', () => {
  const begin = () => gateway.admin.post<{ url: string; error?: object }>('/mcp/servers/crm/sign-in', {});

  test.each<[string, (url: string) => MisleadingServer['says']]>([
    ['its challenge', (url) => ({ challenge: { url } })],
    ['a redirect of its endpoint', (url) => ({ mcp: url })],
    ['its metadata', (url) => ({ resource: { authorization_servers: [url] } })],
    ['a redirect of its metadata', (url) => ({ resource: url })],
    ['a redirect of its authorization server', redirected],
    ['the registration', (url) => metadata({ registration_endpoint: url })],
    ['a redirect of the registration', (url) => ({ register: url })],
  ])('%s leads nowhere', async (_what, says) => {
    await each(async (url) => {
      misleading.says = says(url);
      const { status, text } = await begin();
      // A document that only a challenge points to may also be found at its default place.
      expect([url, [201, 502].includes(status)]).toEqual([url, true]);
      return text;
    });
  });

  test.each<[string, (url: string) => MisleadingServer['says']]>([
    ['the token endpoint', (url) => metadata({ token_endpoint: url })],
    ['a redirect of the token endpoint', (url) => ({ token: url })],
  ])('%s leads nowhere when somebody comes back', async (_what, says) => {
    await each(async (url) => {
      misleading.says = says(url);
      const { status, body, text } = await begin();
      if (status !== 201) return text;
      const back = new URL('/admin/v1/mcp/sign-in/crm/callback', gateway.a.base);
      back.searchParams.set('state', new URL(body.url).searchParams.get('state') ?? '');
      back.searchParams.set('code', 'c');
      const response = await fetch(back);
      const page = await response.text();
      expect([url, response.status, response.headers.get('content-type')]).toEqual([
        ...[url, 400, 'application/json; charset=utf-8'],
      ]);
      return page;
    });
  });

  test('nor does the address at which tokens are revoked, and a sign-in page that is no web page is not opened', async () => {
    for (const page of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd']) {
      misleading.says = metadata({ authorization_endpoint: page });
      expect([page, (await begin()).status]).toEqual([page, 502]);
    }
    await each(async (url) => {
      misleading.says = metadata({ revocation_endpoint: url });
      const { body } = await begin();
      const back = new URL('/admin/v1/mcp/sign-in/crm/callback', gateway.a.base);
      back.searchParams.set('state', new URL(body.url).searchParams.get('state') ?? '');
      back.searchParams.set('code', 'c');
      expect((await fetch(back)).status).toBe(200);
      const ended = await gateway.admin.delete('/mcp/servers/crm/sign-in');
      expect(ended.status).toBe(204);
      return ended.text;
    });
  });
});

test('keys of an issuer, of the connector of Teams, and the exchange of tokens lead nowhere', async () => {
  const { app } = gateway.started;
  const { auth, mcp } = app.get(Settings, { strict: false }).current;
  const outbound = app.get(OutboundClient, { strict: false });
  const issuer = auth.jwt['corp'];
  const server = mcp.servers['swapped'];
  if (issuer === undefined || server === undefined) throw new Error('The settings have neither.');
  for (const says of [(url: string) => metadata({ jwks_uri: url }), redirected])
    await each((url) => {
      misleading.says = says(url);
      return reasonOf(app.get(KeyFetcher, { strict: false }).fetch('corp', issuer));
    });
  for (const says of [(url: string) => ({ openid: { jwks_uri: url } }), (url: string) => ({ openid: url })])
    await each((url) => {
      misleading.says = says(url);
      return reasonOf(new ConnectorKeys(outbound, `${misleading.url}/openid`).fetch());
    });
  for (const says of [(url: string) => metadata({ token_endpoint: url }), redirected])
    await each((url) => {
      misleading.says = says(url);
      const exchange = app.get(TokenExchange, { strict: false });
      Reflect.set(exchange, 'metadata', new Map());
      return reasonOf(exchange.tokenOf(server, { user: randomUUID() }, () => Promise.resolve('assertion')));
    });
});

test('what programs bring to the other APIs leads nowhere: attachments, and where to tell of a task', async () => {
  const post = async (path: string, body: object): Promise<{ status: number; text: string }> => {
    const response = await fetch(new URL(path, gateway.a.base), {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', 'a2a-version': '1.0' },
        authorization: `Bearer ${gateway.token}`,
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  };
  const said = (parts: object[], more: object = {}) => ({
    ...{ jsonrpc: '2.0', id: 1, method: 'SendMessage' },
    params: { message: { messageId: randomUUID(), role: 'ROLE_USER', parts }, ...more },
  });
  const bodies = (url: string): [string, object][] => [
    [
      '/v1/chat/completions',
      {
        model: 'default',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
      },
    ],
    ...['input_image', 'input_file'].map((type): [string, object] => [
      '/v1/responses',
      {
        model: 'default',
        input: [
          { role: 'user', content: [{ type, [type === 'input_file' ? 'file_url' : 'image_url']: url }] },
        ],
      },
    ]),
    ['/a2a', said([{ text: 'x' }, { url, mediaType: 'image/png' }])],
    ['/a2a', said([{ text: 'x' }], { configuration: { taskPushNotificationConfig: { url } } })],
  ];
  await each(async (url) => {
    const answers = await Promise.all(bodies(url).map(([path, body]) => post(path, body)));
    expect([url, ...answers.map(({ status }) => status)]).toEqual([url, 400, 400, 400, 200, 200]);
    for (const { text } of answers) expect([url, text]).toEqual([url, expect.stringContaining('"error"')]);
    return answers.map(({ text }) => text).join();
  });
  expect(await gateway.database.query('SELECT id FROM hooks')).toEqual([]);
});

test('what channels bring leads nowhere: files of a posted message, and of Teams, and where Teams is answered', async () => {
  await untilChannel(gateway, 'teams', 'connected');
  const own = `http://127.0.0.1:${gateway.started.ports.b}`;
  await each(async (url) => {
    const body = JSON.stringify({
      ...{ conversation: url, user: 'ada', content: 'Hello' },
      attachments: [{ url, mime_type: 'image/png' }],
    });
    const answer = await postSigned(gateway, 'desk', SECRET, { id: randomUUID(), body });
    expect([url, answer.status]).toEqual([url, 200]);
    return answer.text();
  });
  const places = urls();
  for (const url of places) {
    const attachments = [
      { contentType: 'image/png', contentUrl: url },
      { contentType: 'application/vnd.microsoft.teams.file.download.info', content: { downloadUrl: url } },
    ];
    expect(await teams.write(own, 'see', { conversation: `a:${url}`, more: { attachments } })).toBe(200);
    await teams.untilSaid(1, `a:${url}`);
    const elsewhere: Posting = {
      ...{ conversation: `b:${url}`, more: { serviceUrl: url }, claims: { serviceurl: url } },
    };
    expect(await teams.write(own, 'answer there', elsewhere)).toBe(200);
    tried += 3;
  }
  // Each response was attempted, and none was sent.
  await eventually(async () => {
    const [row] = await gateway.database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM channel_replies AS r JOIN channel_messages AS m ON m.message_id = r.message_id
       WHERE m.conversation LIKE 'b:%' AND (r.attempts > 0 OR r.status = 'failed')`,
    );
    expect(row?.n).toBe(places.length);
  }, 30_000);
});
