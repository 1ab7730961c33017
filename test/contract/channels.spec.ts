import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const aNumber = expect.any(Number) as number;
const anInstant = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as string;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

interface ChannelsOf<Item> {
  channels: Item[];
}

describe('Profile A', () => {
  test('GET /channels | none | 200; object with channels (array)', async () => {
    await gateway.a.post('/sessions', {});
    const { status, body } = await gateway.a.get<ChannelsOf<object>>('/channels');
    expect(status).toBe(200);
    expect(body).toEqual({
      channels: [{ name: 'api', enabled: true, status: 'connected', active_sessions: aNumber }],
    });
  });

  test('POST /channels/:name/test | none | tests channel connectivity', async () => {
    const { status, body } = await gateway.a.post('/channels/api/test');
    expect(status).toBe(200);
    expect(body).toEqual({ name: 'api', success: true, latency_ms: aNumber });
  });

  test('a channel that is not there is 404, with no body or with any', async () => {
    expect((await gateway.a.post('/channels/nope/test')).status).toBe(404);
    expect((await gateway.a.post('/channels/__proto__/test', { any: 'thing' })).status).toBe(404);
  });
});

describe('Profile B', () => {
  test('GET /channels | none | 200; object with channels (array); connected_at present when connected', async () => {
    const { status, body } = await gateway.b.get<ChannelsOf<object>>('/channels');
    expect(status).toBe(200);
    expect(body).toEqual({
      channels: [
        {
          name: 'api',
          status: 'connected',
          connected_at: anInstant,
          active_sessions: aNumber,
        },
      ],
    });
  });

  test('POST /channels/:name/restart | none | 200; name, status (reconnecting), and connected again soon after', async () => {
    const { status, body } = await gateway.b.post('/channels/api/restart');
    expect(status).toBe(200);
    expect(body).toEqual({ name: 'api', status: 'reconnecting' });
    const after = await gateway.b.get<ChannelsOf<{ status: string }>>('/channels');
    expect(after.body.channels[0]?.status).toBe('connected');
  });

  test('GET /channels/:name/health | none | 200; channel health, last_message_at null before the first message', async () => {
    const before = await gateway.b.get('/channels/api/health');
    expect(before.body).toEqual({
      name: 'api',
      healthy: true,
      latency_ms: aNumber,
      last_message_at: null,
    });
    const { body: session } = await gateway.b.post<{ id: string }>('/sessions', {});
    const sentAt = Date.now();
    await gateway.b.post(`/sessions/${session.id}/messages`, { content: 'Hello' });
    const after = await gateway.b.get<{ last_message_at: string }>('/channels/api/health');
    expect(Math.abs(Date.parse(after.body.last_message_at) - sentAt)).toBeLessThan(5000);
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
