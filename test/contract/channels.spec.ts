import { channelEnv, untilChannel } from '../harness/channels.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { anInteger, PROFILES } from './support/faces.js';

const aText = expect.stringMatching(/./) as string;
const anInstant = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as string;

/** A platform that responds, but with nothing useful. */
let platform: ScriptedProvider;
let gateway: TestGateway;
beforeAll(async () => {
  platform = await startScriptedProvider();
  platform.script((response) => void response.writeHead(503).end());
  gateway = await startTestGateway({
    env: {
      ...channelEnv('dead', { type: 'telegram', token: '1:AAAAAAAAAAAAA', api_url: platform.url }),
      ...channelEnv('forgotten', { type: 'telegram', token_env: 'NOT_SET_ANYWHERE' }),
    },
  });
  await untilChannel(gateway, 'dead', 'reconnecting');
  await untilChannel(gateway, 'forgotten', 'disconnected');
});
afterAll(async () => {
  await gateway.stop();
  await platform.stop();
});

interface ChannelsOf<Item> {
  channels: Item[];
}

describe('Profile A', () => {
  test('4.1 | GET | /channels | none | 200; object with channels (array)', async () => {
    await gateway.a.post('/sessions', {});
    const { status, body } = await gateway.a.get<ChannelsOf<object>>('/channels');
    expect(status).toBe(200);
    expect(body).toEqual({
      channels: [
        { name: 'api', enabled: true, status: 'connected', active_sessions: 1 },
        { name: 'dead', enabled: true, status: 'reconnecting', active_sessions: 0 },
        { name: 'forgotten', enabled: true, status: 'disconnected', active_sessions: 0 },
      ],
    });
  });

  describe('4.1 | POST | /channels/:name/test | none | tests channel connectivity; response not shown', () => {
    test('a successful round trip is 200 with success and its latency', async () => {
      const { status, body } = await gateway.a.post('/channels/api/test');
      expect(status).toBe(200);
      expect(body).toEqual({ name: 'api', success: true, latency_ms: anInteger });
    });

    test('a failed round trip is 200 as well, and says why', async () => {
      const { status, body } = await gateway.a.post('/channels/dead/test');
      expect(status).toBe(200);
      expect(body).toEqual({ name: 'dead', success: false, latency_ms: anInteger, error: aText });
    });
  });

  test('an unknown channel is 404, with or without a body', async () => {
    expect((await gateway.a.post('/channels/nope/test')).status).toBe(404);
    expect((await gateway.a.post('/channels/__proto__/test', { any: 'thing' })).status).toBe(404);
  });
});

describe('Profile B', () => {
  test('4.2 | GET | /channels | none | 200; object with channels (array)', async () => {
    const { status, body } = await gateway.b.get<ChannelsOf<object>>('/channels');
    expect(status).toBe(200);
    expect(body).toEqual({
      channels: [
        { name: 'api', status: 'connected', connected_at: anInstant, active_sessions: anInteger },
        { name: 'dead', status: 'reconnecting', active_sessions: 0, error: aText },
        { name: 'forgotten', status: 'disconnected', active_sessions: 0, error: aText },
      ],
    });
  });

  test('4.2 | POST | /channels/:name/restart | none | 200; name, status', async () => {
    const { status, body } = await gateway.b.post('/channels/api/restart');
    expect(status).toBe(200);
    expect(body).toEqual({ name: 'api', status: 'reconnecting' });
    await untilChannel(gateway, 'api', 'connected');
  });

  test('4.2 | GET | /channels/:name/health | none | 200; channel health', async () => {
    const before = await gateway.b.get('/channels/api/health');
    expect(before.status).toBe(200);
    expect(before.body).toEqual({
      name: 'api',
      healthy: true,
      latency_ms: anInteger,
      last_message_at: null,
    });
    expect((await gateway.b.get('/channels/dead/health')).body).toEqual({
      name: 'dead',
      healthy: false,
      latency_ms: anInteger,
      last_message_at: null,
    });
    const { body: session } = await gateway.b.post<{ id: string }>('/sessions', {});
    const sentAt = Date.now();
    await gateway.b.post(`/sessions/${session.id}/messages`, { content: 'Hello' });
    const after = await gateway.b.get<{ last_message_at: string }>('/channels/api/health');
    expect(Math.abs(Date.parse(after.body.last_message_at) - sentAt)).toBeLessThan(5000);
  });

  test('3 | any channel state | POST channels/:name/restart (B) | channel exists | reconnecting | 200 with name and status', async () => {
    for (const name of ['api', 'dead', 'forgotten']) {
      const { status, body } = await gateway.b.post(`/channels/${name}/restart`);
      expect([status, body]).toEqual([200, { name, status: 'reconnecting' }]);
    }
    expect((await gateway.b.post('/channels/nope/restart')).status).toBe(404);
    await untilChannel(gateway, 'api', 'connected');
    await untilChannel(gateway, 'forgotten', 'disconnected');
  });

  test('active_sessions of a channel equals the total of the active sessions of its profile', async () => {
    const { body: idle } = await gateway.b.post<{ id: string }>('/sessions', {});
    await gateway.database.query(
      `UPDATE sessions SET quiet_since = now() - interval '10 minutes' WHERE id = $1`,
      [idle.id],
    );
    const totalA = (await gateway.a.get<{ total: number }>('/sessions?status=active')).body.total;
    const totalB = (await gateway.b.get<{ total: number }>('/sessions?status=active')).body.total;
    const [a, b] = await Promise.all([
      gateway.a.get<ChannelsOf<{ active_sessions: number }>>('/channels'),
      gateway.b.get<ChannelsOf<{ active_sessions: number }>>('/channels'),
    ]);
    expect(a.body.channels[0]?.active_sessions).toBe(totalA);
    expect(b.body.channels[0]?.active_sessions).toBe(totalB);
    expect(totalA).toBe(totalB + 1);
  });
});

describe('both profiles', () => {
  test('3 | Channel | connected, disconnected, reconnecting', async () => {
    for (const profile of PROFILES) {
      const { body } = await gateway[profile].get<ChannelsOf<{ name: string; status: string }>>('/channels');
      expect(body.channels.map(({ name, status }) => [name, status])).toEqual([
        ['api', 'connected'],
        ['dead', 'reconnecting'],
        ['forgotten', 'disconnected'],
      ]);
    }
  });
});
