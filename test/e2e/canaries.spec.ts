import { mintToken } from '../../src/platform/tokens/token-format.js';
import { canary, planted as plantedAt } from '../harness/canary.js';
import { channelEnv, telegramEnv } from '../harness/channels.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { EventStream } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { everyRow } from '../harness/every-row.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { McpBench, published, say } from '../harness/mcp.js';
import { PluginBench } from '../harness/plugins.js';
import { decoded, expectNoSecret } from '../harness/secret-finder.js';
import { BOT_TOKEN, TestTelegram } from '../harness/telegram.js';
import { TurnStream } from '../harness/turn-stream.js';

jest.setTimeout(60_000);

/** One secret of every kind that the gateway holds. */
const planted = {
  database: canary('database', 'database.url', 'DATABASE_URL'),
  master: canary('master', 'GATEWAY_MASTER_KEY'),
  provider: canary('provider', 'provider.api_key'),
  bootstrap: plantedAt(mintToken(), 'GATEWAY_BOOTSTRAP_TOKEN'),
  telegram: plantedAt(BOT_TOKEN, 'channels_config.<name>.token'),
  channelSecret: canary('channel', 'channels_config.<name>.secret'),
  callback: canary('callback', 'channels_config.<name>.callback_url'),
  hook: canary('hook', 'hooks.secret'),
  hookInUrl: canary('hookurl'),
  toolEnvironment: canary('toolenv', 'mcp.servers.<name>.env'),
  toolToken: canary('tooltoken', 'mcp.servers.<name>.token_env'),
  plugin: canary('plugin', 'plugins.installed.<name>.config'),
};
const minted: Record<string, string> = {};

let database: TestDatabase;
let gateway: TestGateway;
let telegram: TestTelegram;
let receiver: HookReceiver;
let servers: McpBench;
let plugins: PluginBench;
/** Everything that left the gateway, by place. */
const out = { bodies: [] as string[], deliveries: [] as string[] };

beforeAll(async () => {
  [database, telegram, receiver, plugins] = await Promise.all([
    createTestDatabase(),
    TestTelegram.start(),
    HookReceiver.open(),
    PluginBench.make(),
  ]);
  servers = await McpBench.make(
    {
      tools: { ...published('everything'), env: { A_SECRET: planted.toolEnvironment } },
      closed: { transport: 'http', url: receiver.url('/mcp'), token_env: 'TOOLS_TOKEN' },
    },
    `[plugins.installed.measures]\nconfig = { key = "${planted.plugin}" }\n`,
  );
  await plugins.addShipped();
  const address = new URL(database.url);
  address.password = planted.database;
  gateway = await startTestGateway({
    database,
    env: {
      DATABASE_URL: address.href,
      GATEWAY_MASTER_KEY: planted.master,
      GATEWAY_BOOTSTRAP_TOKEN: planted.bootstrap,
      TOOLS_TOKEN: planted.toolToken,
      GATEWAY__LOGGING__LEVEL: 'trace',
      GATEWAY__LOGGING__REQUESTS: 'all',
      GATEWAY__PROVIDER__KIND: 'offline',
      GATEWAY__PROVIDER__API_KEY: planted.provider,
      ...servers.env,
      ...plugins.env,
      ...telegramEnv(telegram),
      ...channelEnv('desk', {
        type: 'webhook',
        secret: planted.channelSecret,
        callback_url: receiver.url(`/${planted.callback}`),
      }),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([telegram.stop(), receiver.close(), servers.clear(), plugins.clear(), database.drop()]);
});

test('one canary of every kind of secret, and none of them in anything that leaves or is kept', async () => {
  const logs = await EventStream.open(
    `${gateway.b.base}/logs?stream=true&level=trace&limit=500`,
    gateway.token,
  );
  minted['token'] = await gateway.mint({ name: 'canary' });
  await registerHooks();
  await provoke();
  await readEverything();
  const turn = await streamedTurn();
  await eventually(() => expect(receiver.attempts.length).toBeGreaterThan(1));
  logs.close();
  const rows = await everyRow(database);
  const places = {
    bodies: out.bodies.join('\n'),
    'log stream': logs.events.map(({ data }) => data).join('\n'),
    'turn stream': turn,
    lines: gateway.logLines.join(''),
    deliveries: receiver.attempts
      .filter(({ path }) => path === '/hook')
      .map(({ body, headers }) => body + JSON.stringify(headers))
      .join('\n'),
    rows,
    'rows, decoded': decoded(rows),
  };
  expectNoSecret(places, { ...planted, ...minted });
});

async function keep(sent: Promise<{ status: number; text: string; headers: Headers }>): Promise<number> {
  const { status, text, headers } = await sent;
  out.bodies.push(text, [...headers].flat().join(' '));
  return status;
}

/** A receiver knows the secret of its hook, and may repeat it. */
async function registerHooks(): Promise<void> {
  receiver.behaviour = ({ headers }, response) => {
    response.writeHead(500, planted.hook, { 'x-secret': planted.hook });
    response.end(`${planted.hook} ${planted.channelSecret} ${headers['authorization'] ?? ''}`);
    return 'handled';
  };
  const hook = { url: receiver.url(), events: ['*'], secret: planted.hook };
  expect(await keep(gateway.b.post('/hooks', hook))).toBe(201);
  const wrong = {
    url: `https://user:${planted.hookInUrl}@hooks.example/`,
    events: ['*'],
    secret: planted.hook,
  };
  expect(await keep(gateway.b.post('/hooks', wrong))).toBe(400);
}

/** Causes every failure that could reveal a secret. */
async function provoke(): Promise<void> {
  for (const [kind, secret] of Object.entries(planted)) {
    const encoded = encodeURIComponent(secret);
    await keep(gateway.a.get(`/sessions/${encoded}?token=${encoded}`));
    await keep(gateway.b.get(`/logs?module=${encoded}`));
    await keep(gateway.b.post('/sessions', { channel: secret }));
    await keep(gateway.caller('a', kind === 'bootstrap' ? `${secret}x` : secret).get('/sessions'));
  }
  await eventually(async () => {
    const answer = await say(gateway, '/call tools__get-env {}');
    expect(answer.tool_calls[0]?.status).toBe('success');
    out.bodies.push(JSON.stringify(answer));
    expect(answer.tool_calls[0]?.output).toContain('A_SECRET');
  });
  telegram.token = 'another';
  await eventually(async () => {
    const { text } = await gateway.b.get('/channels');
    out.bodies.push(text);
    expect(text).toContain('disconnected');
  });
}

const READ = {
  a: [
    '/config',
    '/info',
    '/metrics',
    '/logs?limit=500',
    '/sessions',
    '/channels',
    '/hooks',
    '/mcp/servers',
    '/mcp/tools',
    '/plugins',
    '/skills',
    '/health',
  ],
  b: [
    '/config',
    '/status',
    '/logs?level=trace&limit=500',
    '/sessions',
    '/channels',
    '/hooks',
    '/mcp',
    '/plugins',
    '/skills',
    '/channels/telegram/health',
  ],
  operations: ['/metrics', '/livez', '/readyz'],
} as const;

async function readEverything(): Promise<void> {
  for (const where of ['a', 'b', 'operations'] as const) {
    for (const path of READ[where]) expect([path, await keep(gateway[where].get(path))]).toEqual([path, 200]);
  }
  await keep(gateway.a.post('/channels/telegram/test'));
  await keep(gateway.a.post('/channels/desk/test'));
  await keep(gateway.b.post('/mcp/closed/reconnect'));
  await keep(gateway.a.post('/config/reload'));
  await keep(gateway.b.patch('/config', { 'database.url': `postgres://u:${planted.database}@x/y` }));
}

async function streamedTurn(): Promise<string> {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
  const stream = await TurnStream.open(`${gateway.b.base}/sessions/${body.id}/messages`, gateway.token, {
    body: { content: '/call tools__get-env {}' },
  });
  await eventually(() => expect(stream.ended).toBe(true));
  return stream.text;
}
