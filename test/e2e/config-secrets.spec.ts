import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canary } from '../harness/canary.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { EventStream } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { everyRow } from '../harness/every-row.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { Answer } from '../harness/http-caller.js';
import { answerWith, wires } from '../harness/provider-wires.js';
import { beginStream, type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';

jest.setTimeout(60_000);

const planted = {
  file: canary('file'),
  substituted: canary('substituted'),
  anthropic: canary('anthropic'),
  openai: canary('openai'),
  master: canary('master'),
  database: canary('database'),
  patched: canary('patched'),
  patchedAgain: canary('again'),
  rolledOver: canary('unchosen'),
};

let folder: string;
let file: string;
let database: TestDatabase;
let provider: ScriptedProvider;
let gateway: TestGateway;
const answers: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'canary-'));
  file = join(folder, 'gateway.toml');
  await writeFile(file, tomlWith(''));
  database = await createTestDatabase();
  provider = await startScriptedProvider();
  const address = new URL(database.url);
  address.password = planted.database;
  gateway = await startTestGateway({
    database,
    env: {
      DATABASE_URL: address.href,
      GATEWAY_CONFIG: file,
      GATEWAY_MASTER_KEY: planted.master,
      ANTHROPIC_API_KEY: planted.anthropic,
      OPENAI_API_KEY: planted.openai,
      IN_THE_FILE: planted.substituted,
      GATEWAY__LOGGING__LEVEL: 'trace',
      GATEWAY__LOGGING__REQUESTS: 'all',
      GATEWAY__PROVIDER__BASE_URL: provider.url,
    },
  });
});
afterAll(async () => {
  await provider.stop();
  await gateway.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

const tomlWith = (more: string): string =>
  `[provider]\nkind = "openai"\napi_key = "${planted.file}"\n${more}`;

/** Sends a request and keeps the whole response. */
async function keep(sent: Promise<Answer>): Promise<number> {
  const { status, text, headers } = await sent;
  answers.push(text, [...headers].flat().join(' '));
  return status;
}

const patch = (body: object) => keep(gateway.b.patch('/config', body));

test('secrets planted in file, environment, PATCH, provider errors and URLs appear in no body, stream, line or row', async () => {
  const stream = await EventStream.open(`${gateway.b.base}/logs?stream=true&level=trace`, gateway.token);
  await plantByPatch();
  await plantByProvider();
  await plantByFile();
  await readEverything();
  const rows = await everyRow(database);
  await eventually(() => expect(gateway.logLines.length).toBeGreaterThan(10));
  stream.close();
  const places = {
    bodies: answers.join('\n'),
    stream: stream.events.map(({ data }) => data).join('\n'),
    lines: gateway.logLines.join(''),
    rows,
    unsealed: rows.replaceAll(/[A-Za-z0-9_-]{24,}/g, (text) =>
      Buffer.from(text, 'base64url').toString('latin1'),
    ),
  };
  figure(['no-secret-leaves'], { planted: Object.keys(planted).length, scanned: Object.keys(places) });
  for (const [place, text] of Object.entries(places)) {
    expect(text.length).toBeGreaterThan(1000);
    for (const [name, secret] of Object.entries(planted)) {
      const found = formsOf(secret).filter((form) => text.includes(form));
      expect({ place, name, found }).toEqual({ place, name, found: [] });
    }
  }
  expect(places.bodies).toContain('***REDACTED***');
});

test('what was sealed is in force again after a restart', async () => {
  const [before] = await database.query<{ sealed: string }>(
    `SELECT sealed FROM config_overrides WHERE key = 'provider.api_key'`,
  );
  expect(before?.sealed).toMatch(/^agw1:/);
  const env = { GATEWAY_MASTER_KEY: planted.master, GATEWAY__PROVIDER__BASE_URL: provider.url };
  const other = await startTestGateway({ database, env: { ...env, GATEWAY_CONFIG: file, IN_THE_FILE: 'x' } });
  provider.script(...wires.slice(0, 1).map((wire) => answerWith(wire, 'fine')));
  const { body } = await other.b.post<{ id: string }>('/sessions', {});
  await other.b.post(`/sessions/${body.id}/messages`, { content: 'Hello' });
  await other.stop();
  expect(provider.requests[0]?.headers.authorization).toBe(`Bearer ${planted.patchedAgain}`);
});

async function plantByPatch(): Promise<void> {
  expect(await patch({ 'provider.api_key': planted.patched })).toBe(200);
  expect(await patch({ 'provider.api_key': planted.patchedAgain, 'agent.max_turns': 3 })).toBe(200);
  // Secrets in the wrong place, and in changes that are refused completely.
  expect(await patch({ 'provider.api_key': planted.rolledOver, 'agent.max_turns': 0 })).toBe(400);
  expect(await patch({ 'provider.kind': planted.rolledOver })).toBe(400);
  expect(await patch({ 'gateway.trusted_proxies': [planted.rolledOver] })).toBe(400);
  expect(await patch({ 'database.url': `postgres://u:${planted.rolledOver}@db/x` })).toBe(403);
  expect(await patch({ 'provider.base_url': `https://u:${planted.rolledOver}@models.example` })).toBe(403);
}

/** The provider repeats everything it knows: in an error's body, in a header, in the middle of a stream. */
async function plantByProvider(): Promise<void> {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
  const say = () => keep(gateway.b.post(`/sessions/${body.id}/messages`, { content: 'Hello' }));
  provider.script((response, { headers }) => {
    const message = `Incorrect API key provided: ${headers.authorization} at https://u:${planted.patchedAgain}@x.example`;
    response.writeHead(401, { 'content-type': 'application/json', 'x-echo': String(headers.authorization) });
    response.end(
      JSON.stringify({ error: { message, type: 'invalid_request_error', code: 'invalid_api_key' } }),
    );
  });
  expect(await say()).toBe(502);
  provider.script((response) => {
    const message = `overloaded for ${planted.patchedAgain}`;
    beginStream(response, { error: { message, type: 'server_error', code: planted.patchedAgain } });
    response.end();
  });
  expect(await say()).toBe(502);
}

async function plantByFile(): Promise<void> {
  const reload = () => keep(gateway.a.post('/config/reload'));
  await writeFile(file, tomlWith(`modle = "\${IN_THE_FILE}"\nmodel = "${planted.file}\${"\n`));
  expect(await reload()).toBe(400);
  await writeFile(file, tomlWith(`canary = ${planted.file}`));
  expect(await reload()).toBe(400);
  await writeFile(file, `[provider]\nkind = "openai"\napi_key = "\${IN_THE_FILE}"\n`);
  expect(await reload()).toBe(200);
}

async function readEverything(): Promise<void> {
  for (const path of [
    '/config',
    '/info',
    '/metrics',
    '/logs?limit=500',
    '/sessions',
    '/hooks',
    '/mcp/servers',
  ])
    expect(await keep(gateway.a.get(path))).toBe(200);
  for (const path of ['/config', '/status', '/logs?level=trace&limit=500', '/sessions', '/hooks', '/mcp'])
    expect(await keep(gateway.b.get(path))).toBe(200);
  for (const path of ['/metrics', '/livez', '/readyz']) await keep(gateway.operations.get(path));
}

function formsOf(secret: string): string[] {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.from(' '.repeat(offset) + secret)
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, secret.slice(7), ...base64, Buffer.from(secret).toString('hex')];
}
