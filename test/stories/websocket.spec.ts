import { type ClientOptions, WebSocket } from 'ws';
import type { GrantedScope } from '../../src/platform/tokens/scopes.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { promptly } from '../harness/promptly.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { SocketClient } from '../harness/socket-client.js';
import { heldAnswer, newSession, providerEnv } from '../harness/turn-stream.js';

let provider: ScriptedProvider;
let gateway: TestGateway;
let limited: TestGateway;
const sockets: WebSocket[] = [];

beforeAll(async () => {
  provider = await startScriptedProvider();
  gateway = await startTestGateway({ env: providerEnv(provider) });
  limited = await startTestGateway({
    database: gateway.database,
    env: {
      ...providerEnv(provider),
      GATEWAY__STREAMING__MAX_VIEWERS: '1',
      GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '1',
    },
  });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate();
});
afterAll(async () => {
  await limited.stop();
  await gateway.stop();
  await provider.stop();
});

const urlOf = (id: string, profile: 'a' | 'b', on = gateway) =>
  `ws://127.0.0.1:${on.started.ports[profile]}/ws/sessions/${id}`;
const bearer = (token: string): ClientOptions => ({ headers: { authorization: `Bearer ${token}` } });

async function open(url: string, options: ClientOptions, protocols: string[] = []): Promise<SocketClient> {
  const client = await SocketClient.open(url, options, protocols);
  sockets.push(client.socket);
  return client;
}

/** The response that refuses a handshake. */
function refusal(url: string, options: ClientOptions = {}, protocols: string[] = []) {
  return new Promise<{
    status: number;
    body: { error: { code: string } };
    headers: NodeJS.Dict<string | string[]>;
  }>((resolve, reject) => {
    const socket = new WebSocket(url, protocols, options);
    socket.on('open', () => reject(new Error('It was let in.')));
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: JSON.parse(text) as { error: { code: string } },
          headers: response.headers,
        }),
      );
    });
  });
}

test.each(['a', 'b'] as const)(
  'Profile %s: a message is answered token by token, then done',
  async (profile) => {
    const answer = heldAnswer();
    provider.script(answer.script);
    answer.say('Hello');
    const client = await open(urlOf(await newSession(gateway), profile), bearer(gateway.token));
    client.send({ type: 'message', content: 'Hi' });
    await client.untilSaid('Hello');
    answer.say(' there');
    await client.untilSaid('Hello there');
    answer.finish();
    const done = await client.until('done');
    expect(done).toMatchObject({ content: 'Hello there', model: 'm', tokens_used: 5, tool_calls: [] });
    client.send({ type: 'ping' });
    await client.until('pong');
  },
);

test('a token may come as a second protocol, and never in the query', async () => {
  const id = await newSession(gateway);
  const client = await open(urlOf(id, 'a'), {}, ['gateway.v1', `bearer.${gateway.token}`]);
  expect(client.socket.protocol).toBe('gateway.v1');
  expect(
    (await refusal(`${urlOf(id, 'a')}?token=${gateway.token}&access_token=${gateway.token}`)).status,
  ).toBe(401);
});

test('before the handshake: 401, 403, 404 and 503 in the envelope of the profile, with the headers of the limit', async () => {
  const id = await newSession(gateway);
  const nobody = await refusal(urlOf(id, 'b'));
  expect([nobody.status, nobody.body.error.code]).toEqual([401, 'unauthorized']);
  expect(nobody.headers['www-authenticate']).toContain('Bearer');
  expect(nobody.headers['x-ratelimit-limit']).toBeDefined();
  const scopes: GrantedScope[] = ['status:read'];
  const powerless = await refusal(urlOf(id, 'a'), bearer(await gateway.mint({ scopes })));
  expect([powerless.status, powerless.body.error.code]).toEqual([403, 'forbidden']);
  const missing = await refusal(urlOf('sess_nothing', 'b'), bearer(gateway.token));
  expect([missing.status, missing.body]).toMatchObject([
    404,
    { error: { code: 'not_found', details: null } },
  ]);
  const stranger = await refusal(urlOf(id, 'a'), bearer(await gateway.mint({ user: 'somebody else' })));
  expect(stranger.status).toBe(404);
  const elsewhere = await refusal(urlOf(id, 'a').replace('/ws/', '/api/'), bearer(gateway.token));
  expect(elsewhere.status).toBe(404);
  await open(urlOf(id, 'a', limited), bearer(gateway.token));
  const tooMany = await refusal(urlOf(id, 'a', limited), bearer(gateway.token));
  expect([tooMany.status, Number(tooMany.headers['retry-after'])]).toEqual([503, 10]);
});

test('several viewers see the same turn, and a token that may only read cannot send messages', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  answer.say('For all');
  const id = await newSession(gateway);
  const reader = await open(urlOf(id, 'b'), bearer(await gateway.mint({ scopes: ['sessions:read'] })));
  const speaker = await open(urlOf(id, 'a'), bearer(gateway.token));
  reader.send({ type: 'message', content: 'Hi' });
  expect(await reader.until('error')).toMatchObject({ error: { code: 'forbidden' } });
  speaker.send({ type: 'message', content: 'Hi' });
  await reader.untilSaid('For all');
  const late = await open(urlOf(id, 'a'), bearer(gateway.token));
  await late.untilSaid('For all');
  answer.finish();
  await Promise.all([reader, speaker, late].map((client) => client.until('done')));
});

test('a viewer that reconnects continues after its last event', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  answer.say('One');
  const id = await newSession(gateway);
  const first = await open(urlOf(id, 'a'), bearer(gateway.token));
  first.send({ type: 'message', content: 'Count' });
  await first.untilSaid('One');
  const lastId = String(first.frames.at(-1)?.['event_id']);
  first.socket.terminate();
  answer.say(' two');
  const again = await open(`${urlOf(id, 'b')}?last_event_id=${lastId}`, bearer(gateway.token));
  await again.untilSaid(' two');
  answer.finish();
  await again.until('done');
});

test.each(['here', 'on another replica'])(
  'cancel ends a turn that runs %s within a second, and what it had said is kept',
  async (where) => {
    const answer = heldAnswer();
    provider.script(answer.script);
    answer.say('Half');
    const id = await newSession(gateway);
    const owner = await open(urlOf(id, 'b'), bearer(gateway.token));
    owner.send({ type: 'message', content: 'Hi' });
    await owner.untilSaid('Half');
    const by =
      where === 'here'
        ? owner
        : await open(urlOf(id, 'b', limited), bearer(await gateway.mint({ name: 'other' })));
    await promptly(1500, async () => {
      by.send({ type: 'cancel' });
      await eventually(() => expect(answer.isCut()).toBe(true));
    });
    expect(await owner.until('error')).toMatchObject({
      error: { code: 'conflict', details: { reason: 'turn_cancelled' } },
    });
    const { body } = await gateway.a.get<{ messages: object[] }>(`/sessions/${id}/messages`);
    expect(body.messages[1]).toMatchObject({ role: 'assistant', content: 'Half', incomplete: 'cancelled' });
    const next = heldAnswer();
    provider.script(next.script);
    owner.send({ type: 'message', content: 'Again' });
    next.say('Whole');
    await eventually(() => expect(owner.said()).toBe('HalfWhole'));
    next.finish();
    await owner.until('done');
  },
);

test('what cannot be understood is an error frame, and the connection stays', async () => {
  const client = await open(urlOf(await newSession(gateway), 'b'), bearer(gateway.token));
  client.socket.send('{');
  client.socket.send(Buffer.from('{}'), { binary: true });
  client.send({ type: 'dance' });
  client.send({ type: 'message', content: '' });
  client.send({ type: 'message', content: 'Hi', colour: 'red' });
  await client.until('error', 5);
  for (const { error } of client.of('error')) expect(error).toMatchObject({ code: 'bad_request' });
  client.send({ type: 'ping' });
  await client.until('pong');
});

test('messages are charged to the writes of the token', async () => {
  const client = await open(
    urlOf(await newSession(gateway), 'b', limited),
    bearer(await gateway.mint({ name: 'fast' })),
  );
  for (let sent = 0; sent < 5; sent += 1) client.send({ type: 'cancel' });
  expect(await client.until('error')).toMatchObject({ error: { code: 'rate_limited' } });
});

test('a stopping gateway says when to come back', async () => {
  const other = await startTestGateway({ database: gateway.database });
  const id = await newSession(gateway);
  const stays = await open(urlOf(id, 'b', other), bearer(gateway.token));
  await other.stop();
  await eventually(() => expect(stays.closed?.code).toBe(1012));
  expect(stays.closed?.reason).toMatch(/come back in \d+ ms/);
});
