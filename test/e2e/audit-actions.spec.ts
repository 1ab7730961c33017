import { readFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { McpBench, scripted, serverB, shared } from '../harness/mcp.js';

jest.setTimeout(60_000);

const KEY = 'a master key that only tests may use';
const DESK = `
[channels_config.desk]
type = "webhook"
secret = "a secret of the desk that is long"
allowed_users = ["*"]
`;

interface Row {
  readonly actor: string;
  readonly address: string | null;
  readonly action: string;
  readonly subject: string;
  readonly result: string;
  readonly details: Record<string, unknown>;
}

const processes = new ProcessBench();
let bench: McpBench;
let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createTestDatabase();
  bench = await McpBench.make({ own: shared(scripted(`audited-${process.pid}`)) }, DESK);
  gateway = await startTestGateway({ env: bench.env, database });
  await eventually(async () => expect((await serverB(gateway, 'own'))?.status).toBe('connected'));
});
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
  await processes.clear();
  await database.drop();
});

const rowsOf = async (action: string): Promise<readonly Row[]> =>
  (await gateway.admin.get<{ items: Row[] }>(`/audit?action=${action}`)).body.items;
const command = (args: readonly string[], env: Record<string, string> = { GATEWAY_MASTER_KEY: KEY }) =>
  processes.run(args, { env: { DATABASE_URL: database.url, ...env } });

const HERE = { actor: 'test', address: '127.0.0.1', result: 'success' };
/** A person who uses the command line on the gateway's machine. */
const THERE = { actor: expect.stringMatching(/command line/) as string, address: null, result: 'success' };

/**
 * Actions over HTTP, and the audit row that each must write.
 * @returns the subject of the row
 */
const OVER_HTTP: Readonly<Record<string, () => Promise<string>>> = {
  'config.reloaded': async () => {
    await appendFile(bench.env.GATEWAY_CONFIG, '[agents.support]\ndescription = "Answers customers"\n');
    const { body } = await gateway.a.post<{ changes: string[] }>('/config/reload');
    expect(body.changes).toContain('agents.support.description');
    return 'configuration';
  },
  'config.rolled_back': async () => {
    await gateway.b.patch('/config', { 'agent.max_turns': 41 });
    expect((await gateway.admin.post('/config/rollback', {})).status).toBe(200);
    return 'configuration';
  },
  'channel.restarted': async () => {
    expect((await gateway.b.post('/channels/desk/restart')).status).toBe(200);
    return 'desk';
  },
  'mcp.reconnected': async () => {
    expect((await gateway.b.post('/mcp/own/reconnect')).status).toBe(200);
    return 'own';
  },
  'token.limited': async () => {
    const wish = { name: 'ci', scopes: ['sessions:read'], expires_in: '1d' };
    const { id } = (await gateway.admin.post<{ id: string }>('/tokens', wish)).body;
    expect((await gateway.admin.post(`/tokens/${id}/rotate`, { keep_old: '1h' })).status).toBe(201);
    return wish.name;
  },
  'turn.cancelled': async () => {
    gateway.tools.register({
      name: 'hold',
      description: 'Runs until it is ended.',
      inputSchema: { type: 'object' },
      run: (_args, _context, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    });
    const { id } = (await gateway.b.post<{ id: string }>('/sessions', {})).body;
    const answer = gateway.b.post(`/sessions/${id}/messages`, { content: '/call hold {}' });
    let turn = '';
    await eventually(async () => {
      const { body } = await gateway.admin.get<{ running_turn_id: string | null }>(`/sessions/${id}`);
      turn = body.running_turn_id ?? '';
      expect(turn).not.toBe('');
    });
    expect((await gateway.admin.post(`/turns/${turn}/cancel`)).status).toBe(200);
    await answer;
    return turn;
  },
};

test.each(Object.keys(OVER_HTTP))(
  '"every change by whom, from where, of what, with result": %s',
  async (action) => {
    expect(await rowsOf(action)).toEqual([]);
    const subject = await OVER_HTTP[action]?.();
    const rows = await rowsOf(action);
    expect(rows).toMatchObject([{ ...HERE, subject }]);
    expect(rows[0]?.details['by_token']).toMatch(/^tok_/);
  },
);

test('"denials of identity": identity.denied, with whom it denies', async () => {
  const issuer = 'https://login.example.com/';
  expect((await command(['auth', 'deny', '--issuer', issuer, '--subject', 'eve'])).code).toBe(0);
  const [row] = await rowsOf('identity.denied');
  expect(row).toMatchObject(THERE);
  expect(JSON.stringify(row)).toContain('eve');
});

test('"secrets rotated": hook.rotated, with the webhook', async () => {
  const wish = { url: 'https://example.com/', events: ['session.created'], secret: 'a secret of eight' };
  const { id } = (await gateway.b.post<{ id: string }>('/hooks', wish)).body;
  const { code, stderr } = await command(['hooks', 'rotate-secret', id]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(await rowsOf('hook.rotated')).toMatchObject([{ ...THERE, subject: id }]);
});

test('verifying the audit is in it: audit.verified', async () => {
  expect((await command(['audit', 'verify'])).code).toBe(0);
  const [row] = await rowsOf('audit.verified');
  expect(row).toMatchObject({ ...THERE, subject: 'audit', details: { problems: 0 } });
});

test('a change of the master key: secret.resealed and key.rotated', async () => {
  const keys = {
    GATEWAY_MASTER_KEY: 'another master key that tests may use',
    GATEWAY_MASTER_KEY_PREVIOUS: KEY,
  };
  expect((await command(['secrets', 'rotate'], keys)).code).toBe(0);
  const rows = await database.query<{ action: string; actor: string; outcome: string }>(
    `SELECT DISTINCT action, actor, outcome FROM audit_entries WHERE action IN ('secret.resealed', 'key.rotated')`,
  );
  expect(rows.map(({ action }) => action).sort()).toEqual(['key.rotated', 'secret.resealed']);
  for (const { actor, outcome } of rows)
    expect([actor, outcome]).toEqual([expect.stringMatching(/command line/), 'success']);
});

test('every action that was written here stands in docs/audit.md', async () => {
  const rows = await database.query<{ action: string }>('SELECT DISTINCT action FROM audit_entries');
  const page = readFileSync('docs/audit.md', 'utf8');
  expect(rows.map(({ action }) => action).filter((action) => !page.includes(`\`${action}\``))).toEqual([]);
  expect(rows.length).toBeGreaterThan(12);
});
