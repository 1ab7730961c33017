import { createDataSource } from '../../ormconfig.js';
import { SecuritySettings } from '../../src/areas/config/config.errors.js';
import { openConfiguration } from '../../src/areas/config/open-configuration.js';
import { Database } from '../../src/platform/database/database.js';
import { silentLogs } from '../../src/platform/logging/logger.js';
import { Redactor } from '../../src/platform/logging/redactor.js';
import { SecretBox } from '../../src/platform/secrets/secret-box.js';
import { Environment } from '../../src/platform/settings/environment.js';
import { loadSettings } from '../../src/platform/settings/settings-loader.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { HttpCaller } from '../harness/http-caller.js';

let gateway: TestGateway;
let writer: HttpCaller;
let administrator: HttpCaller;
beforeAll(async () => {
  gateway = await startTestGateway();
  const may = ['config:read', 'config:write'] as const;
  writer = gateway.caller('b', await gateway.mint({ scopes: may }));
  administrator = gateway.caller('b', await gateway.mint({ scopes: [...may, 'security:write'] }));
});
afterAll(() => gateway.stop());

interface Refusal {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: { readonly reason: string; readonly fields: { readonly path: string }[] };
  };
}

const etag = async () => (await writer.get('/config')).headers.get('etag');
const DESK = { type: 'webhook', secret: 'a secret of an attacker', allowed_users: ['*'] };

/**
 * Requests the change, and checks that nothing changed.
 * @returns the keys that the refusal names
 */
async function refused(body: object): Promise<string[]> {
  const before = await etag();
  const answer = await writer.patch<Refusal>('/config', body);
  expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden']);
  const { message, details } = answer.body.error;
  expect(details.reason).toBe('security_settings');
  expect(message).toContain('"security:write"');
  expect(await etag()).toBe(before);
  return details.fields.map(({ path }) => path);
}

describe('config:write alone', () => {
  test.each([
    [{ 'agent.tool_approval': 'never' }, ['agent.tool_approval']],
    [{ 'security.audit_retention_days': 1 }, ['security.audit_retention_days']],
    [{ 'agent.session_retention_days': 1 }, ['agent.session_retention_days']],
    [{ 'logging.retention_days': 1 }, ['logging.retention_days']],
    [{ 'logging.retention_rows': 1000 }, ['logging.retention_rows']],
    [{ 'memory.max_entries_per_user': 1 }, ['memory.max_entries_per_user']],
    [{ 'tools.tokens.me.allow': ['*'] }, ['tools.tokens.me.allow']],
    [{ 'tools.channels.api': { deny: [] } }, ['tools.channels.api.deny']],
    [{ tools: null }, ['tools']],
    [{ 'limits.api_tokens.me.daily_tokens': 0 }, ['limits.api_tokens.me.daily_tokens']],
    [{ 'rate_limits.other': 1_000_000 }, ['rate_limits.other']],
    [
      { channels_config: { admin: DESK } },
      ['type', 'secret', 'allowed_users'].map((key) => `channels_config.admin.${key}`),
    ],
    [{ 'agent.max_turns': 7, 'provider.api_key': 'mine' }, ['provider.api_key']],
  ])('cannot PATCH %j: 403 names the keys that need more, and nothing is changed', async (body, keys) => {
    expect(await refused(body)).toEqual(keys);
  });

  test('changes what decides nothing about rights', async () => {
    const answer = await writer.patch('/config', { 'agent.max_turns': 9, 'skills.max_triggered': 2 });
    expect(answer.status).toBe(200);
  });

  test('cannot take away with a section what others set below it, nor find out by trying whether a value is set', async () => {
    expect((await administrator.patch('/config', { channels_config: { admin: DESK } })).status).toBe(200);
    expect(await refused({ 'channels_config.admin': null })).toEqual(
      ['allowed_users', 'secret', 'type'].map((key) => `channels_config.admin.${key}`),
    );
    expect(await refused({ 'channels_config.admin.secret': DESK.secret })).toEqual([
      'channels_config.admin.secret',
    ]);
    expect((await writer.patch('/config', { 'channels_config.admin.enabled': false })).status).toBe(200);
  });
});

test('security:write without config:write changes nothing', async () => {
  const alone = gateway.caller('b', await gateway.mint({ scopes: ['security:write'] }));
  expect((await alone.patch('/config', { 'agent.tool_approval': 'ask' })).status).toBe(403);
});

test('with both all of it can be changed, and the history says who did', async () => {
  expect((await administrator.patch('/config', { 'agent.tool_approval': 'ask' })).status).toBe(200);
  expect((await administrator.get('/config')).body).toMatchObject({ agent: { tool_approval: 'ask' } });
});

test('a rollback brings no key back that its author may not change', async () => {
  await administrator.patch('/config', { 'agent.tool_approval': 'ask', 'tools.approval.ask': ['own__*'] });
  const environment = new Environment({ DATABASE_URL: gateway.database.url });
  const limits = { size: 2, connectTimeoutMs: 5000, statementTimeoutMs: 0, onIdleError: () => undefined };
  const source = await createDataSource({ url: gateway.database.url }, limits).initialize();
  try {
    const configuration = await openConfiguration({
      ...{ environment, loaded: loadSettings({ environment }), database: new Database(source) },
      ...{
        box: new SecretBox(Buffer.alloc(32)),
        logs: silentLogs,
        redactor: new Redactor(),
        checks: [],
      },
    });
    const author = { name: 'writer', tokenId: 'tok_writer', maySetSecurity: false };
    await expect(configuration.rollBack(author, undefined)).rejects.toThrow(SecuritySettings);
    expect((await administrator.get('/config')).body).toMatchObject({
      tools: { approval: { ask: ['own__*'] } },
    });
    const { changed: keys } = await configuration.rollBack({ ...author, maySetSecurity: true }, undefined);
    expect(keys).toEqual(['tools.approval.ask']);
  } finally {
    await source.destroy();
  }
});
