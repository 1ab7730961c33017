import { InboxRetention } from '../../src/areas/channels/inbound/inbox.store.js';
import { channelB, channelEnv, telegramEnv, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { TestTelegram } from '../harness/telegram.js';

let telegram: TestTelegram;
let gateway: TestGateway;
beforeAll(async () => {
  telegram = await TestTelegram.start();
  gateway = await startTestGateway({
    env: {
      ...telegramEnv(telegram),
      ...channelEnv('desk', { type: 'webhook', secret: 'a secret of sixteen bytes', allowed_users: '*' }),
      ...channelEnv('off', { type: 'webhook', secret: 'a secret of sixteen bytes', enabled: 'false' }),
      ...channelEnv('forgotten', { type: 'telegram', token_env: 'NOT_SET_ANYWHERE', api_url: telegram.url }),
      ...channelEnv('inside', { type: 'telegram', token: '1:AAAAAAAAAAAAA', api_url: 'http://10.1.2.3' }),
    },
  });
  await Promise.all(['telegram', 'desk'].map((name) => untilChannel(gateway, name, 'connected')));
});
afterAll(async () => {
  await gateway.stop();
  await telegram.stop();
});

test('GET /channels lists every configured channel with its real state, in both profiles', async () => {
  await untilChannel(gateway, 'forgotten', 'disconnected');
  await untilChannel(gateway, 'inside', 'disconnected');
  const anInstant = expect.stringMatching(/Z$/) as string;
  const { body: b } = await gateway.b.get('/channels');
  const { body: a } = await gateway.a.get('/channels');
  expect(b).toEqual({
    channels: [
      { name: 'api', status: 'connected', connected_at: anInstant, active_sessions: 0 },
      { name: 'desk', status: 'connected', connected_at: anInstant, active_sessions: 0 },
      {
        name: 'forgotten',
        status: 'disconnected',
        active_sessions: 0,
        error: 'the variable NOT_SET_ANYWHERE is not set',
      },
      {
        name: 'inside',
        status: 'disconnected',
        active_sessions: 0,
        error: expect.stringContaining('api_url must lead to a public address') as string,
      },
      { name: 'off', status: 'disconnected', active_sessions: 0 },
      { name: 'telegram', status: 'connected', connected_at: anInstant, active_sessions: 0 },
    ],
  });
  expect(a).toMatchObject({
    channels: [
      { name: 'api', enabled: true, status: 'connected' },
      { name: 'desk', enabled: true, status: 'connected' },
      { name: 'forgotten', enabled: true, status: 'disconnected' },
      { name: 'inside', enabled: true, status: 'disconnected' },
      { name: 'off', enabled: false, status: 'disconnected' },
      { name: 'telegram', enabled: true, status: 'connected' },
    ],
  });
});

describe('2.8 | channels | object: connected (integer), total (integer)', () => {
  test('status and info count the enabled channels, and say degraded while one fails to connect', async () => {
    const { body: status } = await gateway.b.get('/status');
    expect(status).toMatchObject({ channels: { connected: 3, total: 5 } });
    const { body: info } = await gateway.a.get('/info');
    expect(info).toMatchObject({ active_channels: 3 });
    await eventually(async () => {
      expect((await gateway.b.get('/status')).body).toMatchObject({ status: 'degraded' });
    });
  });
});

test('a disabled channel cannot be restarted and is not healthy; sessions can be created on any configured one', async () => {
  const restart = await gateway.b.post('/channels/off/restart');
  expect(restart.status).toBe(409);
  expect(restart.body).toMatchObject({
    error: { code: 'conflict', details: { reason: 'channel_disabled' } },
  });
  expect((await gateway.b.get('/channels/off/health')).body).toMatchObject({ healthy: false });
  expect((await gateway.a.post('/channels/off/test')).body).toMatchObject({
    success: false,
    error: 'the channel is disabled',
  });
  expect((await gateway.b.post('/channels/nope/restart')).status).toBe(404);
  const session = await gateway.b.post<{ id: string }>('/sessions', { channel: 'off' });
  expect(session.status).toBe(201);
  await gateway.b.delete(`/sessions/${session.body.id}`);
  expect((await gateway.b.post('/sessions', { channel: 'nope' })).status).toBe(400);
});

test('a configuration change restarts only the channel concerned', async () => {
  const before = await channelB(gateway, 'telegram');
  const admin = await channelB(gateway, 'desk');
  const patch = await gateway.b.patch('/config', { 'channels_config.desk.response_timeout_ms': 1234 });
  expect(patch.body).toEqual({
    updated: ['channels_config.desk.response_timeout_ms'],
    reload_required: false,
  });
  await eventually(async () => {
    const now = await channelB(gateway, 'desk');
    expect(Date.parse(now.connected_at ?? '')).toBeGreaterThan(Date.parse(admin.connected_at ?? ''));
  });
  expect(await channelB(gateway, 'telegram')).toEqual(before);
  await gateway.b.patch('/config', { 'channels_config.desk.enabled': false });
  expect((await channelB(gateway, 'desk')).status).toBe('disconnected');
  await gateway.b.patch('/config', { 'channels_config.desk.enabled': null });
  await untilChannel(gateway, 'desk', 'connected');
  expect(await channelB(gateway, 'telegram')).toEqual(before);
});

test('a channel can be configured over the API, except for its address and its variables', async () => {
  const added = { type: 'webhook', secret: 'another secret, long enough' };
  expect((await gateway.b.patch('/config', { 'channels_config.added': added })).status).toBe(200);
  await untilChannel(gateway, 'added', 'connected');
  const { body } = await gateway.b.get('/config');
  expect(body).toMatchObject({
    channels_config: {
      added: { type: 'webhook', secret: '***REDACTED***' },
      telegram: { token: '***REDACTED***' },
    },
  });
  const rows = await gateway.database.query(`SELECT value FROM config_overrides WHERE key LIKE '%.secret'`);
  expect(rows).toEqual([{ value: null }]);
  for (const key of ['api_url', 'token_env', 'secret_env']) {
    const { status } = await gateway.b.patch('/config', {
      [`channels_config.telegram.${key}`]: 'http://x.example',
    });
    expect([key, status]).toEqual([key, 403]);
  }
  await gateway.b.patch('/config', { 'channels_config.added': null });
  const { text } = await gateway.b.get('/channels');
  expect(text).not.toContain('added');
});

test.each([
  [{ type: 'telegram' }, 'channels_config.x.type', 'needs a token or a token_env'],
  [{ type: 'webhook' }, 'channels_config.x.type', 'needs a secret or a secret_env'],
  [{ type: 'icq' }, 'channels_config.x.type', 'one of "slack", "teams", "telegram", "webhook"'],
  [{ type: 'webhook', secret: 'x', tokn: '1:A' }, 'channels_config.x.tokn', 'the nearest is'],
])('%j is refused with a sentence that names the key', async (settings, path, sentence) => {
  const { status, body } = await gateway.b.patch<{
    error: { details: { fields: { path: string; message: string }[] } };
  }>('/config', { 'channels_config.x': settings });
  expect(status).toBe(400);
  expect(body.error.details.fields).toContainEqual({
    path,
    message: expect.stringContaining(sentence) as string,
  });
});

test('the name of the built-in channel is reserved', async () => {
  const { status, text } = await gateway.b.patch('/config', {
    'channels_config.api': { type: 'webhook', secret: 'another secret, long enough' },
  });
  expect(status).toBe(400);
  expect(text).toContain('api is built in');
});

test('hooks receive events of channels that connect and disconnect, with the reason', async () => {
  const receiver = await HookReceiver.open();
  await gateway.b.post('/hooks', { url: receiver.url(), events: ['channel.*'] });
  await gateway.b.post('/channels/telegram/restart');
  await eventually(() => expect(receiver.attempts).toHaveLength(2));
  await telegram.goAway();
  await eventually(() => expect(receiver.attempts).toHaveLength(3));
  expect(receiver.bodies().map(({ event, data }) => ({ event, data }))).toEqual([
    { event: 'channel.disconnected', data: { name: 'telegram' } },
    { event: 'channel.connected', data: { name: 'telegram' } },
    {
      event: 'channel.disconnected',
      data: {
        name: 'telegram',
        error: expect.stringMatching(/^Telegram cannot be reached: connection/) as string,
      },
    },
  ]);
  await telegram.comeBack();
  await gateway.b.post('/channels/telegram/restart');
  await untilChannel(gateway, 'telegram', 'connected');
  await receiver.close();
});

test('messages done a month ago are deleted, and open ones are kept', async () => {
  await telegram.write('old', { chat: 1 });
  await telegram.write('new', { chat: 2 });
  await Promise.all([telegram.untilSaid(1, 1), telegram.untilSaid(1, 2)]);
  await eventually(async () => {
    expect(await gateway.database.query('SELECT 1 FROM channel_messages WHERE done_at IS NULL')).toEqual([]);
  });
  const aMonthAgo = `now() - interval '31 days'`;
  await gateway.database.query(`UPDATE channel_messages SET done_at = ${aMonthAgo} WHERE conversation = '1'`);
  await gateway.database.query(`UPDATE channel_conversations SET written_at = ${aMonthAgo}`);
  await gateway.database.query(
    `UPDATE sessions SET status = 'terminated' WHERE metadata->>'conversation' = '1'`,
  );
  await gateway.started.app.get(InboxRetention, { strict: false }).job.runAll();
  const left = await gateway.database.query(
    `SELECT (SELECT array_agg(conversation) FROM channel_messages) AS messages,
       (SELECT array_agg(conversation) FROM channel_conversations) AS conversations,
       (SELECT count(*)::int FROM channel_replies) AS replies`,
  );
  expect(left).toEqual([{ messages: ['2'], conversations: ['2'], replies: 1 }]);
});
