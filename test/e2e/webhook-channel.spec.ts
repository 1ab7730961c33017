import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { channelEnv, echo, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';
import { verifyAttempt } from '../harness/webhook-judges.js';

const SECRET = 'whsec_Y2FuYXJ5IHNlY3JldCBvZiBhIHdlYmhvb2sgY2hhbm5lbA==';
const RAW_SECRET = 'a raw canary secret of a channel';

let provider: ScriptedProvider;
let receiver: HookReceiver;
let gateway: TestGateway;
let count = 0;
beforeAll(async () => {
  provider = await startScriptedProvider();
  receiver = await HookReceiver.open();
  gateway = await startTestGateway({
    env: {
      ...providerEnv(provider),
      ...channelEnv('desk', {
        type: 'webhook',
        secret: SECRET,
        allowed_users: '*',
        response_timeout_ms: '2000',
      }),
      ...channelEnv('raw', { type: 'webhook', secret: RAW_SECRET, allowed_users: 'ada' }),
      ...channelEnv('back', {
        type: 'webhook',
        secret: SECRET,
        allowed_users: '*',
        callback_url: receiver.url(),
      }),
    },
  });
  await Promise.all(['desk', 'raw', 'back'].map((name) => untilChannel(gateway, name, 'connected')));
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([provider.stop(), receiver.close()]);
});
beforeEach(() => provider.script(echo()));

interface Sent {
  readonly channel?: string;
  readonly id?: string;
  readonly at?: Date;
  readonly profile?: 'a' | 'b';
  readonly sign?: (id: string, at: Date, body: string) => string;
  readonly headers?: Record<string, string>;
}

const signed = (id: string, at: Date, body: string): string => new Webhook(SECRET).sign(id, at, body);

/** Posts a message like a program that signs with a third-party library. */
async function post(message: unknown, sent: Sent = {}) {
  const { channel = 'desk', id = `in_${count++}`, at = new Date(), profile = 'b', sign = signed } = sent;
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  const response = await fetch(`http://127.0.0.1:${gateway.started.ports[profile]}/inbound/${channel}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': sign(id, at, body),
      ...sent.headers,
    },
    body,
  });
  const json = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body: json };
}

const hello = (content = 'Hello', conversation = `ticket-${count}`) => ({
  conversation,
  user: 'ada',
  content,
});

describe('a signed message', () => {
  test.each(['a', 'b'] as const)(
    'is answered in the response, on the port of profile %s',
    async (profile) => {
      const { status, body } = await post(hello('Hello'), { profile });
      expect(status).toBe(200);
      expect(body).toEqual({
        status: 'answered',
        message_id: expect.stringMatching(/^msg_/) as string,
        session_id: expect.stringMatching(/^sess_/) as string,
        content: 'You said: Hello',
      });
      const session = await gateway.b.get(`/sessions/${String(body['session_id'])}`);
      expect(session.body).toMatchObject({ channel: 'desk', user_id: 'desk:ada' });
    },
  );

  test('continues the session of its conversation', async () => {
    const one = await post(hello('one', 'same'));
    const two = await post(hello('two', 'same'));
    expect(two.body['session_id']).toBe(one.body['session_id']);
  });

  test('may be signed by another library, with a raw secret, and beside an older signature', async () => {
    const raw = (id: string, at: Date, body: string): string =>
      `v1,bm90aGluZw== ${new SvixWebhook(Buffer.from(RAW_SECRET), { format: 'raw' }).sign(id, at, body)}`;
    expect((await post(hello(), { channel: 'raw', sign: raw })).status).toBe(200);
  });

  test('that comes twice runs once and gets the same answer; another message under its id is 409', async () => {
    const message = hello('only once');
    const [first, second] = await Promise.all([post(message, { id: 'twin' }), post(message, { id: 'twin' })]);
    const third = await post(message, { id: 'twin' });
    expect(first.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(third.body).toEqual(first.body);
    expect(provider.requests).toHaveLength(1);
    const other = await post(hello('something else'), { id: 'twin' });
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({ error: { code: 'conflict' } });
  });

  test('is 202 when its answer takes longer than the response waits, and gets the answer when it is repeated', async () => {
    const held = heldAnswer();
    provider.script(held.script);
    const message = hello('slow');
    const waiting = await post(message, { id: 'slow' });
    expect(waiting.status).toBe(202);
    expect(waiting.body).toMatchObject({ status: 'accepted' });
    held.say('Here it is');
    held.finish();
    await eventually(async () => {
      const again = await post(message, { id: 'slow' });
      expect(again.body).toMatchObject({ status: 'answered', content: 'Here it is' });
    });
  });

  test('of a user whom the channel does not allow is 403 and stores nothing', async () => {
    const sign = (id: string, at: Date, body: string): string =>
      new Webhook(Buffer.from(RAW_SECRET), { format: 'raw' }).sign(id, at, body);
    const { status, body } = await post({ ...hello(), user: 'eve' }, { channel: 'raw', sign });
    expect(status).toBe(403);
    expect(body).toMatchObject({ error: { code: 'forbidden' } });
  });

  test.each([
    ['no JSON', '{', 400],
    ['not an object', '[]', 400],
    ['an unknown field', { ...hello(), more: 1 }, 400],
    ['no content', { conversation: 'x', user: 'ada' }, 400],
    ['an empty content', hello(''), 400],
    ['a conversation that is no text', { ...hello(), conversation: 7 }, 400],
  ])('with %s is refused', async (_, message, status) => {
    const answer = await post(message);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ error: { code: 'bad_request' } });
  });

  test('that is too large, or not declared as JSON, is refused first', async () => {
    expect((await post(hello('x'.repeat(1_100_000)))).status).toBe(413);
    expect((await post(hello(), { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
  });
});

describe('a message without a valid signature is 401 and stores nothing', () => {
  const wrong = (): string =>
    new Webhook(Buffer.from('another secret altogether'), { format: 'raw' }).sign('x', new Date(), 'y');
  test.each<[string, Sent]>([
    ['by another key', { sign: wrong }],
    ['with no signature', { sign: () => '' }],
    ['with something that is none', { sign: () => 'v1,%%% v1,' }],
    ['ten minutes ago', { at: new Date(Date.now() - 600_000) }],
    ['ten minutes ahead', { at: new Date(Date.now() + 600_000) }],
    ['for another id', { headers: { 'webhook-id': 'other' } }],
    ['for another time', { headers: { 'webhook-timestamp': '1764072000' } }],
    ['to a channel that is not there', { channel: 'nope' }],
    ['to the built-in channel', { channel: 'api' }],
    ['to a prototype', { channel: '__proto__' }],
  ])('%s', async (_, sent) => {
    const before = await gateway.database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM channel_messages',
    );
    const { status, headers, body } = await post(hello(), sent);
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toContain('Signature');
    expect(headers.get('x-ratelimit-limit')).not.toBeNull();
    expect(body).toMatchObject({ error: { code: 'unauthorized' } });
    const after = await gateway.database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM channel_messages',
    );
    expect(after).toEqual(before);
  });

  test('a token does not replace a signature, and an unverified body is not parsed', async () => {
    const headers = { authorization: `Bearer ${gateway.token}` };
    expect((await post('{not json', { sign: () => 'v1,AAAA', headers })).status).toBe(401);
  });
});

describe('with a callback', () => {
  test('the message is accepted, and its answer is posted, signed and with its own id', async () => {
    const { status, body } = await post(hello('call me', 'order-1'), { channel: 'back', id: 'in-callback' });
    expect(status).toBe(202);
    expect(body).toMatchObject({ status: 'accepted' });
    await eventually(() => expect(receiver.attempts).toHaveLength(1));
    const [attempt] = receiver.attempts;
    if (attempt === undefined) throw new Error('Nothing came.');
    verifyAttempt(attempt, SECRET);
    expect(JSON.parse(attempt.body)).toEqual({
      type: 'reply',
      conversation: 'order-1',
      user: 'ada',
      in_reply_to: 'in-callback',
      content: 'You said: call me',
    });
  });

  test('an answer that is not accepted is posted again, with the same bytes and id', async () => {
    receiver.attempts.length = 0;
    receiver.behaviour = () => (receiver.attempts.length === 1 ? 500 : 200);
    await post(hello('twice', 'order-2'), { channel: 'back' });
    await eventually(() => expect(receiver.attempts).toHaveLength(2));
    const [first, second] = receiver.attempts;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    await eventually(async () => {
      const rows = await gateway.database.query('SELECT 1 FROM channel_messages WHERE done_at IS NULL');
      expect(rows).toEqual([]);
    });
  });

  test('test and health send it a signed ping and say when it is gone', async () => {
    receiver.attempts.length = 0;
    receiver.behaviour = () => 200;
    expect((await gateway.a.post('/channels/back/test')).body).toMatchObject({ success: true });
    expect(receiver.attempts.map(({ json }) => json)).toEqual([{ type: 'ping' }]);
    receiver.behaviour = () => 404;
    expect((await gateway.a.post('/channels/back/test')).body).toMatchObject({
      success: false,
      error: 'the callback answered 404',
    });
    receiver.behaviour = () => 200;
    await gateway.b.patch('/config', { 'channels_config.back.callback_url': 'http://10.1.2.3/back' });
    const { body } = await gateway.b.get<{ healthy: boolean }>('/channels/back/health');
    expect(body.healthy).toBe(false);
    expect((await gateway.a.post('/channels/back/test')).body).toMatchObject({
      error: expect.stringContaining('must lead to a public address') as string,
    });
    await gateway.b.patch('/config', { 'channels_config.back.callback_url': null });
  });
});

test('the secret of a channel appears nowhere', async () => {
  const texts = await Promise.all([
    gateway.b.get('/config').then(({ text }) => text),
    gateway.b.get('/logs?level=trace&limit=500').then(({ text }) => text),
    gateway.b.get('/channels').then(({ text }) => text),
  ]);
  expect([...texts, ...gateway.logLines].join('\n')).not.toMatch(/Y2FuYXJ5IHNlY3Jld|a raw canary secret/);
});
