import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Route, RouteTable } from '../../src/http/route-table.js';
import { PROFILES } from '../contract/support/faces.js';
import { a2aClient, a2aRequest } from '../harness/a2a.js';
import { canary, planted as plantedAt } from '../harness/canary.js';
import { channelEnv } from '../harness/channels.js';
import { EventStream } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { everyRow } from '../harness/every-row.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { AUDIENCE, TestIssuer } from '../harness/identity.js';
import { McpBench, say, serverB } from '../harness/mcp.js';
import { runCommand } from '../harness/remote-command-line.js';
import { decoded, expectNoSecret } from '../harness/secret-finder.js';
import { SLACK_APP_TOKEN, SLACK_BOT_TOKEN } from '../harness/slack.js';

jest.setTimeout(120_000);

/** Secrets of later features: several providers, company identity, token exchange, other channels, the faces. */
const planted = {
  previousMaster: canary('previous-master', 'GATEWAY_MASTER_KEY_PREVIOUS'),
  providerInFile: canary('main-provider', 'providers.<name>.api_key'),
  providerInVariable: canary('backup-provider', 'providers.<name>.api_key_env'),
  oauthClient: canary('oauth-client', 'mcp.servers.<name>.oauth_client_secret_env'),
  /** Tokens of the gateway itself and of a user, as the authorization server issues them. */
  clientToken: canary('client-token'),
  userToken: canary('user-token'),
  issuerBearer: canary('issuer-bearer', 'auth.jwt.<name>.jwks_token_file'),
  slackBot: plantedAt(SLACK_BOT_TOKEN, 'channels_config.<name>.token'),
  slackApp: plantedAt(SLACK_APP_TOKEN, 'channels_config.<name>.app_token'),
  teamsApp: canary('teams-app', 'channels_config.<name>.app_secret'),
  webhookSecret: canary('webhook', 'channels_config.<name>.secret'),
  pushToken: canary('push-token', 'hooks.secret'),
  pushCredentials: canary('push-credentials', 'hooks.secret'),
  collector: canary('collector', 'OTEL_EXPORTER_OTLP_HEADERS'),
};
const TASK_NOTE = { scheme: 'Bearer', credentials: planted.pushCredentials };
/** Secrets that the gateway or its issuer created while it ran. */
const made: Record<string, string> = {};
const said: string[] = [];

/**
 * One server as authorization server, tool server, model, Slack and Microsoft, which repeats every secret that it is
 * sent.
 */
async function startEchoes() {
  const seen: string[] = [];
  const server = createServer((request, response) => void answer(request, response, seen));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(() => closed()));
  };
  return { url, seen, stop };
}

async function answer(request: IncomingMessage, response: ServerResponse, seen: string[]): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const told = `${request.headers.authorization ?? ''} ${body}`;
  seen.push(`${request.url} ${told}`);
  const origin = `http://${request.headers.host}`;
  const json = (status: number, value: object): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-told': encodeURIComponent(told) });
    response.end(JSON.stringify(value));
  };
  if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true)
    return json(200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
  if (request.url?.startsWith('/.well-known/') === true)
    return json(200, {
      ...{
        issuer: origin,
        token_endpoint: `${origin}/token`,
        authorization_endpoint: `${origin}/no`,
        response_types_supported: ['code'],
      },
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    });
  if (request.url === '/token') {
    const form = new URLSearchParams(body);
    const isUser = form.get('grant_type')?.endsWith('token-exchange') === true;
    if (isUser && seen.filter((one) => one.includes('token-exchange')).length === 1)
      return json(400, { error: 'invalid_client', error_description: `no: ${told}` });
    return json(200, {
      ...{ access_token: isUser ? planted.userToken : planted.clientToken, token_type: 'Bearer' },
      ...{ expires_in: 300, issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' },
    });
  }
  // Slack accepts the bot's token, and refuses the app's.
  if (request.url === '/auth.test')
    return json(200, { ok: true, user_id: 'U1', team_id: 'T1', url: origin, bot_id: 'B1' });
  if (request.url === '/mcp')
    return request.method === 'POST'
      ? json(
          ...toolAnswer(
            body,
            told,
            seen.filter((one) => one.includes('tools/list')).length === 1 && body.includes('tools/list'),
          ),
        )
      : json(405, {});
  return json(401, { ok: false, error: { message: `no: ${told}` }, error_description: told });
}

/** The tool repeats the caller's token, in a protocol error and in its output. */
function toolAnswer(body: string, told: string, isFirstList: boolean): [number, object] {
  if (!told.startsWith('Bearer ')) return [401, { error: `who is ${told}` }];
  const { id, method, params } = JSON.parse(body || '{}') as {
    id?: number;
    method?: string;
    params?: { name?: string };
  };
  if (id === undefined) return [202, {}];
  const results: Record<string, object> = {
    initialize: {
      ...{ protocolVersion: '2025-06-18', capabilities: { tools: {} } },
      serverInfo: { name: 'echo', version: '1' },
    },
    ping: {},
    'tools/list': {
      tools: ['tell', 'fail'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    },
    'tools/call': { content: [{ type: 'text', text: `I was told: ${told}` }], isError: true },
  };
  const fails = params?.name === 'fail' || isFirstList;
  const result = fails ? undefined : results[method ?? ''];
  const error = { code: -32000, message: `I was told ${told}`, data: { told } };
  return [200, { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }];
}

let echoes: Awaited<ReturnType<typeof startEchoes>>;
let issuer: TestIssuer;
let bench: McpBench;
let receiver: HookReceiver;
let gateway: TestGateway;
beforeAll(async () => {
  [echoes, issuer, bench, receiver] = await Promise.all([
    startEchoes(),
    TestIssuer.open(),
    McpBench.make({}),
    HookReceiver.open(),
  ]);
  issuer.bearer = planted.issuerBearer;
  const bearerFile = join(bench.folder, 'issuer-bearer');
  await writeFile(bearerFile, planted.issuerBearer);
  await bench.write(
    {
      crm: {
        ...{ transport: 'http', url: `${echoes.url}/mcp`, identity: 'exchange', health_interval_ms: 60_000 },
        ...{ oauth_issuer: echoes.url, oauth_client_id: 'gateway', oauth_client_secret_env: 'CRM_SECRET' },
      },
    },
    `
[providers.main]
kind = "openai"
base_url = "${echoes.url}"
api_key = "${planted.providerInFile}"
max_retries = 0
[providers.backup]
kind = "anthropic"
base_url = "${echoes.url}"
api_key_env = "BACKUP_KEY"
max_retries = 0
[agents.broken]
models = ["main/m", "backup/m"]
[auth.jwt.corp]
issuer = "${issuer.url}"
audience = "${AUDIENCE}"
jwks_token_file = "${bearerFile}"
[auth.jwt.corp.roles]
"staff" = { preset = "admin" }
`,
  );
  gateway = await startTestGateway({
    env: {
      ...bench.env,
      GATEWAY_MASTER_KEY_PREVIOUS: planted.previousMaster,
      CRM_SECRET: planted.oauthClient,
      BACKUP_KEY: planted.providerInVariable,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${planted.collector}`,
      GATEWAY__LOGGING__LEVEL: 'trace',
      GATEWAY__LOGGING__REQUESTS: 'all',
      GATEWAY__PROVIDER__KIND: 'offline',
      GATEWAY__MCP_SERVER__EXPOSE_TOOLS: 'true',
      ...channelEnv('chat', {
        ...{ type: 'slack', token: SLACK_BOT_TOKEN, app_token: SLACK_APP_TOKEN, api_url: `${echoes.url}/` },
      }),
      ...channelEnv('desk', { type: 'webhook', secret: planted.webhookSecret }),
      ...channelEnv('team', {
        ...{ type: 'teams', app_id: '11111111-2222-3333-4444-555555555555', app_secret: planted.teamsApp },
        tenant_id: '99999999-8888-7777-6666-555555555555',
      }),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([echoes.stop(), issuer.close(), receiver.close()]);
  await bench.clear();
});

/** Sends a request and keeps the whole response. */
async function keep(port: 'a' | 'b' | 'operations', path: string, init: RequestInit = {}): Promise<number> {
  const headers = { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${gateway.started.ports[port]}${path}`, {
    ...init,
    headers: { ...headers, ...(init.headers as Record<string, string> | undefined) },
  });
  said.push(await response.text(), [...response.headers].flat().join(' '));
  return response.status;
}
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  keep('b', path, { method: 'POST', body: JSON.stringify(body), headers });

/** Triggers everything that can repeat a secret. */
async function provoke(): Promise<void> {
  await eventually(async () => {
    const { status, error } = (await serverB(gateway, 'crm')) ?? {};
    expect([status, error]).toEqual(['connected', undefined]);
  }, 30_000);
  for (const tool of ['tell', 'tell', 'fail', 'tell'])
    said.push(JSON.stringify(await say(gateway, `/call crm__${tool} {}`, { user_id: 'ada' })));
  expect(echoes.seen.join('\n')).toContain(planted.userToken);
  // The first list of tools failed, and the server's message contained the gateway's token.
  expect(gateway.logLines.join('')).toContain('I was told Bearer ***REDACTED***');
  const { body } = await gateway.b.post<{ id: string }>('/sessions', { agent: 'broken' });
  expect(await post(`/api/v1/sessions/${body.id}/messages`, { content: 'Hello' })).toBe(502);
  expect(echoes.seen.join('\n')).toContain(planted.providerInFile);
  expect(echoes.seen.join('\n')).toContain(planted.providerInVariable);
  expect(await post('/admin/v1/agents/check', { agents: ['broken'] })).toBe(200);
  for (const channel of ['chat', 'team']) await post(`/admin/v1/channels/${channel}/restart`, {});
  await eventually(() => expect(echoes.seen.join('\n')).toContain(planted.slackApp));
}

/** Callers with each kind of credential. */
async function callers(): Promise<void> {
  const jwt = (claims: object = {}) => issuer.sign({ groups: ['staff'], ...claims });
  made['jwt'] = await jwt();
  made['expiredJwt'] = await jwt({ iat: 1, exp: 2 });
  made['foreignJwt'] = await jwt({ aud: 'elsewhere' });
  for (const kind of ['jwt', 'expiredJwt', 'foreignJwt']) {
    const headers = { authorization: `Bearer ${made[kind]}` };
    const status = await keep('a', '/admin/v1/me', { headers });
    expect([kind, status]).toEqual([kind, kind === 'jwt' ? 200 : 401]);
    await keep('a', `/api/v1/sessions?token=${made[kind]}`, { headers });
  }
  const key = { 'idempotency-key': 'make-once' };
  for (let again = 0; again < 2; again += 1) {
    const { body, text } = await gateway.admin.send<{ id: string; token: string }>('POST', '/tokens', {
      body: { name: 'made', scopes: ['sessions:read'] },
      headers: key,
    });
    made['token'] = plantedAt(body.token, 'idempotency_keys.body');
    // Only the response that created the token may contain it.
    said.push(text.replace(body.token, ''));
    made['tokenId'] = body.id;
  }
  const rotated = await gateway.admin.post<{ token: string }>(`/tokens/${made['tokenId']}/rotate`);
  made['rotated'] = rotated.body.token;
  delete made['tokenId'];
}

/** Push notifications of a task, whose receiver repeats what it is sent. */
async function tasks(): Promise<void> {
  receiver.behaviour = ({ headers }, response) => {
    response.writeHead(500, { 'x-told': String(headers['authorization']) });
    response.end(`${String(headers['authorization'])} ${String(headers['x-a2a-notification-token'])}`);
    return 'handled';
  };
  const client = await a2aClient(gateway.b.base, gateway.token);
  const push = {
    ...{ tenant: '', id: 'mine', taskId: '', url: receiver.url(), token: planted.pushToken },
    authentication: TASK_NOTE,
  };
  said.push(JSON.stringify(await client.sendMessage(a2aRequest('Hello', {}, true, push))));
  await eventually(() => expect(receiver.attempts.length).toBeGreaterThan(0));
  await post('/a2a', { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }, { 'a2a-version': '1.0' });
}

/** The gateway has these only to pass them on, sealed or from a file, and repeats nothing of the response. */
const PASSED_ON = ['issuerBearer', 'pushToken', 'pushCredentials'];

/**
 * Sends every secret as a name at every face. Refusals repeat it to the sender, but log and database must not contain
 * it.
 */
async function sendThem(): Promise<void> {
  for (const [kind, secret] of Object.entries(planted)) {
    if (PASSED_ON.includes(kind)) continue;
    const before = said.length;
    await post('/v1/responses', { model: secret, input: 'x' });
    await post('/v1/chat/completions', { model: 'default', [secret]: 1, messages: [] });
    await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: secret } });
    await post('/a2a', { jsonrpc: '2.0', id: 1, method: secret }, { 'a2a-version': '1.0' });
    await post('/admin/v1/tokens', { name: 'x', scopes: [secret] });
    await keep('a', `/admin/v1/sessions?agent=${encodeURIComponent(secret)}`);
    await keep('b', `/v1/models/${encodeURIComponent(secret)}`);
    await keep('b', '/admin/v1/me', { headers: { authorization: `Bearer ${secret}` } });
    for (let at = before; at < said.length; at += 1) said[at] = said[at]?.replaceAll(secret, '') ?? '';
  }
}

/** Reads every list at every face on both ports. */
async function readEverything(): Promise<number> {
  const routes = gateway.started.app.get(RouteTable, { strict: false }).all();
  const lists = (listener: string): Route[] =>
    routes.filter(
      ({ listener: own, method, path }) =>
        own === listener && method === 'GET' && !/[:*,]|\/stream$/.test(path),
    );
  for (const profile of PROFILES) for (const { path } of lists(profile)) await keep(profile, path);
  for (const path of ['/metrics', '/readyz']) await keep('operations', path);
  const variables = {
    ...{ DATABASE_URL: gateway.database.url, GATEWAY_MASTER_KEY: 'a master key that only tests may use' },
    ...{ ...bench.env, CRM_SECRET: planted.oauthClient, BACKUP_KEY: planted.providerInVariable },
    GATEWAY_MASTER_KEY_PREVIOUS: planted.previousMaster,
  };
  for (const command of [
    'config show',
    'audit list',
    'audit export',
    'hooks list',
    'auth token list',
    'doctor',
  ]) {
    const { stdout, stderr } = await runCommand(variables, ...command.split(' '));
    said.push(stdout, stderr);
  }
  return lists('a').length + lists('b').length;
}

test('providers, channels, tool servers, issuers, tasks and callers: no secret of theirs in anything that leaves or is kept', async () => {
  const logs = await EventStream.open(
    `${gateway.b.base}/logs?stream=true&level=trace&limit=500`,
    gateway.token,
  );
  await provoke();
  await callers();
  await tasks();
  await sendThem();
  const lists = await readEverything();
  expect(lists).toBeGreaterThan(60);
  await eventually(async () =>
    expect(await gateway.database.query('SELECT 1 FROM audit_unsealed LIMIT 1')).toEqual([]),
  );
  logs.close();
  const rows = await everyRow(gateway.database);
  const places = {
    answers: said.join('\n'),
    'log stream': logs.events.map(({ data }) => data).join('\n'),
    lines: gateway.logLines.join(''),
    rows,
    'rows, decoded': decoded(rows),
  };
  figure(['no-secret-leaves'], { planted: Object.keys({ ...planted, ...made }).length, lists });
  expectNoSecret(places, { ...planted, ...made });
  // The private half of the keys with which the gateway signs assertions.
  const key = plantedAt(/"(?:kty|crv)"[^}]{0,300}"d"\s*:/, 'assertion_keys.sealed_key');
  for (const [place, text] of Object.entries(places))
    expect([place, key.exec(text)?.[0]]).toEqual([place, undefined]);
});
