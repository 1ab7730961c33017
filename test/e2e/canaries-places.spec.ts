import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportPKCS8 } from 'jose';
import { canary, planted } from '../harness/canary.js';
import { channelEnv } from '../harness/channels.js';
import { createTestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { everyRow } from '../harness/every-row.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { AUDIENCE, signingKey } from '../harness/identity.js';
import { McpBench, serverB, type ToolCallView } from '../harness/mcp.js';
import { runCommand } from '../harness/remote-command-line.js';
import { Repeater } from '../harness/repeater.js';
import { decoded, expectNoSecret } from '../harness/secret-finder.js';
import { SLACK_APP_TOKEN, SLACK_BOT_TOKEN } from '../harness/slack.js';
import { BOT_TOKEN } from '../harness/telegram.js';

jest.setTimeout(120_000);

/**
 * Secrets that the other specs leave out: in variables and files, in addresses and headers, and of people who sign
 * in.
 */
const secrets: Record<string, string> = {
  provider: canary('provider-in-variable', 'provider.api_key_env'),
  anthropic: canary('anthropic', 'ANTHROPIC_API_KEY'),
  openai: canary('openai', 'OPENAI_API_KEY'),
  commandLine: canary('command-line', 'AGENT_GATEWAY_TOKEN'),
  traces: canary('traces', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
  metrics: canary('metrics', 'OTEL_EXPORTER_OTLP_METRICS_HEADERS'),
  logs: canary('logs', 'OTEL_EXPORTER_OTLP_LOGS_HEADERS'),
  telegram: planted(BOT_TOKEN, 'channels_config.<name>.token_env'),
  slack: planted(SLACK_BOT_TOKEN, 'channels_config.<name>.token_env'),
  slackApp: planted(SLACK_APP_TOKEN, 'channels_config.<name>.app_token_env'),
  teams: canary('teams', 'channels_config.<name>.app_secret_env'),
  teamsFile: canary('teams-file', 'channels_config.<name>.assertion_file'),
  webhook: canary('webhook', 'channels_config.<name>.secret_env'),
  patched: canary('patched', 'config_overrides.sealed'),
  patchedAgain: canary('patched-again', 'config_changes.edits'),
  toolAddress: canary('tool-address', 'mcp.servers.<name>.url'),
  toolHeader: canary('tool-header', 'mcp.servers.<name>.headers'),
  client: canary('client', 'mcp.servers.<name>.oauth_client_secret_env'),
  companyClient: canary('company-client', 'mcp.servers.<name>.idp_client_secret_env'),
  master: canary('master', 'GATEWAY_MASTER_KEY'),
  oldHook: canary('old-hook', 'hooks.old_secret'),
};
/** Secrets that the repeater was sent or has issued. */
const REPEATED = {
  assertion: planted('client_assertion', 'mcp.servers.<name>.oauth_private_key_file'),
  platform: planted('the token of fleet', 'mcp.servers.<name>.oauth_workload_token_file'),
  account: planted('the token of account', 'mcp.servers.<name>.idp_token_file'),
  person: planted('the token of ada', 'turns.caller', 'turns.origin'),
  registered: planted('the secret of a client', 'mcp_sign_ins.sealed_client'),
  verifier: planted('code_verifier', 'mcp_sign_ins.sealed_flow'),
  refresh: planted('refresh_token', 'mcp_sign_ins.sealed_tokens'),
};

let repeater: Repeater;
let bench: McpBench;
let gateway: TestGateway;
const said: string[] = [];

const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(bench.folder, name), text);
  return join(bench.folder, name);
};

async function writeConfig(): Promise<void> {
  const { privateKey } = await signingKey('client', 'ES256');
  const pem = await exportPKCS8(privateKey);
  for (const [n, line] of pem.split('\n').entries())
    if (line.length > 20 && !line.includes('-')) secrets[`key ${n}`] = line;
  const at = (name: string) => ({
    ...{ transport: 'http', url: `${repeater.url}/tools/${name}`, health_interval_ms: 60_000 },
  });
  const oauth = { oauth_issuer: repeater.url, oauth_client_id: 'gateway' };
  const withSecret = { ...oauth, oauth_client_secret_env: 'CLIENT_SECRET' };
  await bench.write(
    {
      signed: { ...at('signed'), ...oauth, oauth_private_key_file: await file('key', pem) },
      swapped: { ...at('swapped'), ...withSecret, identity: 'exchange' },
      crossed: {
        ...{ ...at('crossed'), ...withSecret, identity: 'cross_app', idp_issuer: repeater.url },
        ...{ idp_client_id: 'agents', idp_client_secret_env: 'COMPANY_SECRET' },
        idp_token_file: await file('account', await repeater.sign('account')),
      },
      fleet: {
        ...{ ...at('fleet'), ...oauth },
        oauth_workload_token_file: await file('platform', await repeater.sign('fleet')),
      },
      vouched: { ...at('vouched'), identity: 'assertion', identity_header: 'x-on-behalf-of' },
      keyed: { ...at(`keyed?key=${secrets['toolAddress']}`), headers: { 'x-key': secrets['toolHeader'] } },
      person: { ...at('person'), oauth_sign_in: true },
    },
    `
[gateway]
public_url = "https://agents.example.com"
[provider]
kind = "openai"
base_url = "${repeater.url}/model"
api_key_env = "PROVIDER_KEY"
max_retries = 0
[providers.offline]
kind = "offline"
[agents.teller]
models = ["offline/any"]
[auth.jwt.corp]
issuer = "${repeater.url}"
audience = "${AUDIENCE}"
[auth.jwt.corp.roles]
"staff" = { preset = "admin" }
[channels_config.federated]
assertion_file = "${await file('teams', secrets['teamsFile'] ?? '')}"
`,
  );
}

const teams = (): Record<string, string> => ({
  ...{ type: 'teams', app_id: '11111111-2222-3333-4444-555555555555', login_url: `${repeater.url}/teams` },
  tenant_id: '99999999-8888-7777-6666-555555555555',
});

const variables = () => ({
  ...bench.env,
  ...{ CLIENT_SECRET: secrets['client'], COMPANY_SECRET: secrets['companyClient'] },
  ...{ PROVIDER_KEY: secrets['provider'], ANTHROPIC_API_KEY: secrets['anthropic'] },
  ...{ OPENAI_API_KEY: secrets['openai'], AGENT_GATEWAY_TOKEN: secrets['commandLine'] },
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: `x-key=${secrets['traces']}`,
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: `x-key=${secrets['metrics']}`,
  OTEL_EXPORTER_OTLP_LOGS_HEADERS: `x-key=${secrets['logs']}`,
  ...{ BOT: secrets['telegram'], SLACK: secrets['slack'], APP: secrets['slackApp'] },
  ...{ TEAMS: secrets['teams'], DESK: secrets['webhook'], GATEWAY_MASTER_KEY: secrets['master'] },
  ...{ GATEWAY__LOGGING__LEVEL: 'trace', GATEWAY__LOGGING__REQUESTS: 'all' },
  ...channelEnv('bot', { type: 'telegram', token_env: 'BOT', api_url: `${repeater.url}/telegram` }),
  ...channelEnv('chat', {
    ...{ type: 'slack', token_env: 'SLACK', app_token_env: 'APP', api_url: `${repeater.url}/slack/` },
  }),
  ...channelEnv('team', { ...teams(), app_secret_env: 'TEAMS' }),
  ...channelEnv('federated', teams()),
  ...channelEnv('desk', { type: 'webhook', secret_env: 'DESK' }),
});

beforeAll(async () => {
  [repeater, bench] = await Promise.all([Repeater.start(), McpBench.make({})]);
  await writeConfig();
  gateway = await startTestGateway({ env: variables() as Record<string, string> });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([repeater.stop(), bench.clear()]);
});

type Sent = Promise<{ status: number; text: string; headers: Headers }>;
async function keep(sent: Sent): Promise<number> {
  const { status, text, headers } = await sent;
  said.push(text, [...headers].flat().join(' '));
  return status;
}

const isMet = (...names: string[]) =>
  eventually(async () => {
    for (const name of names)
      expect([name, (await serverB(gateway, name))?.status]).toEqual([name, 'connected']);
  }, 30_000);

/** At its end a turn drops the token of its sender. This keeps the rows. */
const KEEP_TURNS = `
  CREATE TABLE turns_as_they_were (row text);
  CREATE FUNCTION note_turn() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO turns_as_they_were VALUES (NEW::text); RETURN NULL; END $$;
  CREATE TRIGGER note_turn AFTER INSERT OR UPDATE ON turns FOR EACH ROW EXECUTE FUNCTION note_turn()`;

/** Connects to each tool server as far as possible, and a person calls its tool. */
async function callTools(): Promise<void> {
  await isMet('swapped', 'crossed', 'vouched', 'keyed');
  await eventually(async () => {
    for (const name of ['signed', 'fleet'])
      expect([name, (await serverB(gateway, name))?.error]).toEqual([name, expect.any(String)]);
  });
  const person = gateway.caller('a', await repeater.sign('ada'));
  const { body } = await person.post<{ session_id: string }>('/sessions', { agent: 'teller' });
  for (const tool of ['swapped', 'crossed', 'crossed', 'vouched', 'keyed']) {
    const content = `/call ${tool}__tell {}`;
    const answer = await person.post<{ tool_calls: ToolCallView[] }>(
      `/sessions/${body.session_id}/messages`,
      {
        content,
      },
    );
    said.push(answer.text);
    expect([tool, answer.body.tool_calls[0]?.status]).toEqual([tool, 'error']);
  }
  // The second one waits for the first.
  const path = `/sessions/${body.session_id}/messages`;
  for (let n = 0; n < 2; n += 1)
    expect((await person.post(path, { content: 'Hello' }, { prefer: 'respond-async' })).status).toBe(202);
  await eventually(async () =>
    expect(await gateway.database.query(`SELECT 1 FROM turns WHERE status <> 'completed'`)).toEqual([]),
  );
  const carried = await gateway.database.query(
    `SELECT 1 FROM turns_as_they_were WHERE row LIKE '%identityToken%'`,
  );
  expect(carried.length).toBeGreaterThan(1);
}

/** A failed sign-in, and one whose tokens are soon to be refreshed, which fails. */
async function signIn(): Promise<void> {
  for (const code of [canary('bad-code'), `good-${canary('code')}`]) {
    const { status, body } = await gateway.admin.post<{ url: string }>('/mcp/servers/person/sign-in', {});
    expect([status, body]).toEqual([201, body]);
    const state = new URL(body.url).searchParams.get('state');
    const back = `/admin/v1/mcp/sign-in/person/callback?state=${state}&code=${code}&iss=${encodeURIComponent(repeater.url)}`;
    const response = await fetch(`http://127.0.0.1:${gateway.started.ports.b}${back}`);
    said.push(await response.text());
    expect([code, response.status]).toEqual([code, code.startsWith('good') ? 200 : 400]);
  }
  // Each new connection needs a token, and this token expires after a second.
  await eventually(async () => {
    await gateway.admin.post('/mcp/servers/person/reconnect');
    expect(repeater.refused.join('\n')).toContain('refresh_token');
  }, 20_000);
}

/** Everything else repeats what it is sent, in its response to a model's call or a channel's. */
async function provoke(): Promise<void> {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
  expect(await keep(gateway.b.post(`/sessions/${body.id}/messages`, { content: 'Hello' }))).toBe(502);
  for (const channel of ['bot', 'chat', 'team', 'federated'])
    await keep(gateway.a.post(`/channels/${channel}/test`));
  for (const secret of [secrets['patched'], secrets['patchedAgain']]) {
    const patch = { channels_config: { late: { type: 'webhook', secret } } };
    expect(await keep(gateway.b.patch('/config', patch))).toBe(200);
  }
  const hook = { url: `${repeater.url}/hook`, events: ['*'], secret: secrets['oldHook'] };
  const made = await gateway.b.post<{ id: string }>('/hooks', hook);
  expect(made.status).toBe(201);
  const own = { DATABASE_URL: gateway.database.url, GATEWAY_MASTER_KEY: secrets['master'] ?? '' };
  const rotated = await runCommand(own, 'hooks', 'rotate-secret', made.body.id, '--keep-old', '1h');
  expect(rotated.stdout).toMatch(/^whsec_/);
  secrets['newHook'] = rotated.stdout.trim();
  said.push(rotated.stderr);
  const heard = repeater.heard.join('\n');
  for (const kind of ['provider', 'telegram', 'slack', 'slackApp', 'teams', 'teamsFile'])
    expect([kind, heard.includes(secrets[kind] ?? '')]).toEqual([kind, true]);
}

/** Callers put every secret into a path, a body and a token, from which it may get into the log. */
async function sendThem(): Promise<void> {
  for (const secret of Object.values(secrets)) {
    const before = said.length;
    const encoded = encodeURIComponent(secret);
    await keep(gateway.a.get(`/sessions/${encoded}?token=${encoded}`));
    await keep(gateway.b.post('/sessions', { channel: secret }));
    await keep(gateway.caller('a', secret).get('/sessions'));
    // Only its sender gets the response.
    for (let at = before; at < said.length; at += 1) said[at] = said[at]?.replaceAll(secret, '') ?? '';
  }
}

async function readEverything(): Promise<void> {
  const { a, b, admin } = gateway;
  const sent = [
    ...['/mcp', '/logs?level=trace&limit=500', '/sessions', '/status', '/config', '/channels', '/hooks'].map(
      (path) => b.get(path),
    ),
    ...['/mcp/servers', '/mcp/tools', '/logs?limit=500', '/health', '/config', '/info'].map((path) =>
      a.get(path),
    ),
    ...['/mcp/servers', '/audit?limit=500', '/overview', '/turns', '/channels', '/config/history'].map(
      (path) => admin.get(path),
    ),
  ];
  for (const one of sent) expect(await keep(one)).toBe(200);
}

test('what whoever is told a secret repeats is hidden by its value, and so is each part of it', async () => {
  await gateway.database.query(KEEP_TURNS);
  await callTools();
  await signIn();
  await provoke();
  await sendThem();
  await readEverything();
  // Every field was sent and refused, and everything that repeats secrets was called.
  for (const field of ['client_assertion', 'assertion', 'subject_token', 'client_secret', 'code_verifier'])
    expect([field, repeater.refused.join('\n')]).toEqual([field, expect.stringContaining(field)]);
  for (const kind of Object.values(REPEATED))
    expect([kind, Object.keys(repeater.secrets).some((name) => name.startsWith(kind))]).toEqual([kind, true]);
  const rows = await everyRow(gateway.database);
  expectNoSecret(
    { answers: said.join('\n'), lines: gateway.logLines.join(''), rows, 'rows, decoded': decoded(rows) },
    { ...repeater.secrets, ...secrets },
  );
  // The surrounding words are shown.
  expect(said.join('\n')).toContain('***REDACTED*** may not');
  expect((await serverB(gateway, 'signed'))?.error).toContain('***REDACTED*** is not good');
});

test('nor do libraries write one to the console of the process', async () => {
  const [processes, database] = [new ProcessBench(), await createTestDatabase()];
  try {
    const own = { DATABASE_URL: database.url, GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always' };
    const running = await processes.serve({ env: { ...variables(), ...own } as Record<string, string> });
    // The client of tool servers logs why a token was refused.
    await eventually(() => expect(running.output()).toContain('"module":"library"'), 30_000);
    running.kill('SIGTERM');
    const { stdout, stderr } = await running.ended;
    expect(stderr).not.toContain('mcp-sdk');
    expectNoSecret({ written: stdout + stderr }, { ...repeater.secrets, ...secrets });
  } finally {
    await processes.clear();
    await database.drop();
  }
});
