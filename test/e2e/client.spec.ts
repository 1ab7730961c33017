import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClientOptions, TurnEvent } from '../../client/src/index.js';
import {
  adminApi,
  everyItem,
  everyMessage,
  everySession,
  orThrow,
  profileA,
  profileB,
  RequestError,
  verifiedEvent,
} from '../../client/src/index.js';
import { CuttingProxy } from '../harness/cutting-proxy.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { answerWith, openAiWire } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let provider: ScriptedProvider;
let receiver: HookReceiver;
let one: TestGateway;
let two: TestGateway;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  [database, provider, receiver] = await Promise.all([
    createTestDatabase(),
    startScriptedProvider(),
    HookReceiver.open(),
  ]);
  const env = providerEnv(provider);
  one = await startTestGateway({ database, env });
  two = await startTestGateway({ database, env });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await Promise.all([provider.stop(), receiver.close()]);
  await database.drop();
});

const originOf = (base: string): string => new URL(base).origin;
type ClientB = ReturnType<typeof profileB>;

function client(more: Partial<ClientOptions> = {}): ClientB {
  return profileB({ baseUrl: originOf(one.b.base), token: one.token, ...more });
}

async function proxied(plan: ConstructorParameters<typeof CuttingProxy>[1], ports: readonly number[]) {
  const proxy = new CuttingProxy(ports, plan);
  open.push(proxy);
  return { proxy, baseUrl: await proxy.listen() };
}

const portOf = (gateway: TestGateway): number => Number(new URL(gateway.b.base).port);

async function newSession({ api }: ClientB): Promise<string> {
  return (await orThrow(api.POST('/api/v1/sessions', { body: {} }))).id;
}

test('every operation by its path, in both profiles and for operators; a refusal is an error with its code', async () => {
  const id = await newSession(client());
  const { api } = profileA({ baseUrl: originOf(one.a.base), token: () => Promise.resolve(one.token) });
  const params = { params: { path: { id } } };
  expect(await orThrow(api.GET('/api/v1/sessions/{id}', params))).toHaveProperty('session_id', id);
  const unknown = orThrow(client().api.GET('/api/v1/sessions/{id}', { params: { path: { id: 'sess_x' } } }));
  await expect(unknown).rejects.toThrow(RequestError);
  await expect(unknown).rejects.toMatchObject({ status: 404, code: 'not_found' });
  const admin = adminApi({ baseUrl: originOf(one.a.base), token: one.token });
  expect((await orThrow(admin.GET('/admin/v1/agents'))).items[0]?.name).toBe('default');
});

test('a request whose answer is lost is sent again under its key, and done once', async () => {
  provider.script(answerWith(openAiWire, 'Once.'));
  const { proxy, baseUrl } = await proxied([{ text: 'Once.', n: 1 }], [portOf(one), portOf(two)]);
  const id = await newSession(client());
  const retried: string[] = [];
  const { api } = client({ baseUrl, onRetry: (reason) => retried.push(reason) });
  const answer = api.POST('/api/v1/sessions/{id}/messages', {
    ...{ params: { path: { id } }, body: { content: 'Hello' } },
  });
  const { data, response } = await answer;
  expect(data).toHaveProperty('content', 'Once.');
  expect(response.headers.get('idempotency-replayed')).toBe('true');
  expect([proxy.cuts, retried.length, provider.requests.length]).toEqual([1, 1, 1]);
});

describe('retries by the documented rules', () => {
  let answers: { status: number; headers?: Record<string, string> }[] = [];
  const keys: (string | undefined)[] = [];
  let server: Server;
  beforeAll(async () => {
    server = createServer((request, response) => {
      keys.push(String(request.headers['idempotency-key']));
      const { status, headers = {} } = answers.shift() ?? { status: 200 };
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(status === 200 ? '{"id":"sess_1"}' : '{"error":{"code":"conflict","message":"No."}}');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  beforeEach(() => keys.splice(0));
  afterAll(() => new Promise((done) => server.close(done)));

  const post = (given: typeof answers) => {
    answers = given;
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return client({ baseUrl, retries: 2 }).api.POST('/api/v1/sessions', { body: {} });
  };

  test.each([
    [429, { 'retry-after': '0' }],
    [503, { 'retry-after': '0' }],
    [503, {}],
    [409, { 'retry-after': '0' }],
  ])('%i with %j is worth another attempt, under the same key', async (status, headers) => {
    expect((await post([{ status, headers }, { status: 200 }])).response.status).toBe(200);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test.each([400, 401, 403, 404, 409, 500, 502, 504])('%i is an answer', async (status) => {
    expect((await post([{ status }])).response.status).toBe(status);
    expect(keys).toHaveLength(1);
  });

  test('the last refusal is the answer, and an abort ends the wait', async () => {
    const refused = { status: 503, headers: { 'retry-after': '0' } };
    expect((await post([refused, refused, refused, refused])).response.status).toBe(503);
    expect(keys).toHaveLength(3);
    answers = [{ status: 503, headers: { 'retry-after': '20' } }];
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const signal = AbortSignal.timeout(200);
    const aborted = client({ baseUrl }).api.POST('/api/v1/sessions', { body: {}, signal });
    await expect(aborted).rejects.toThrow(/abort|timeout/i);
  });
});

describe('streams as async iterators', () => {
  async function textOf(events: AsyncIterable<TurnEvent>): Promise<string> {
    let text = '';
    for await (const event of events) {
      if (event.type === 'token') text += event.data.content;
      if (event.type === 'done') return `${text} [${event.data.content}]`;
    }
    return text;
  }

  test('resume after cuts, at another replica, with nothing lost, nothing twice and one question to the model', async () => {
    const held = heldAnswer();
    provider.script(held.script);
    const ports = [portOf(one), portOf(two), portOf(one)];
    const { proxy, baseUrl } = await proxied(
      [
        { text: 'bravo', n: 1 },
        { text: 'delta', n: 1 },
      ],
      ports,
    );
    const id = await newSession(client());
    const text = textOf(client({ baseUrl }).turns.send(id, { content: 'Count' }));
    for (const [index, word] of ['alpha ', 'bravo ', 'charlie ', 'delta ', 'echo'].entries()) {
      await eventually(() => expect(provider.requests).toHaveLength(1));
      held.say(word);
      await new Promise((resolve) => setTimeout(resolve, index === 1 ? 800 : 300));
    }
    held.finish();
    const whole = 'alpha bravo charlie delta echo';
    expect(await text).toBe(`${whole} [${whole}]`);
    expect([proxy.cuts, provider.requests.length]).toEqual([2, 1]);
  });

  test('go on at another replica when theirs stops', async () => {
    const third = await startTestGateway({
      ...{ database, env: { ...providerEnv(provider), GATEWAY__GATEWAY__DRAIN_TIMEOUT_MS: '300' } },
    });
    const held = heldAnswer();
    provider.script(held.script, answerWith(openAiWire, 'Elsewhere.'));
    const { proxy, baseUrl } = await proxied([], [portOf(third)]);
    const id = await newSession(client());
    const text = textOf(client({ baseUrl }).turns.send(id, { content: 'Hold on' }));
    await eventually(() => expect(provider.requests).toHaveLength(1));
    proxy.goTo([portOf(two)]);
    await third.stop();
    expect(await text).toBe('Elsewhere. [Elsewhere.]');
  });

  test('watch shows the turns of others until its reader leaves', async () => {
    const id = await newSession(client());
    const gone = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const event of client().turns.watch(id, { signal: gone.signal }))
        if (event.type === 'done') seen.push(event.data.content);
    })();
    provider.script(answerWith(openAiWire, 'For all.'));
    await eventually(async () => {
      await two.b.post(`/sessions/${id}/messages`, { content: 'Hello' });
      expect(seen.length).toBeGreaterThan(0);
    });
    gone.abort();
    await expect(watching).rejects.toThrow();
  });

  test('a session that is not there is an error and no endless loop', async () => {
    await expect(client().turns.send('sess_x', { content: 'x' }).next()).rejects.toMatchObject({
      status: 404,
    });
  });
});

test('pages: every session, every message, every item of an operators list', async () => {
  provider.script(answerWith(openAiWire, 'Yes.'));
  const { api } = client();
  const id = await newSession(client());
  for (const content of ['one', 'two', 'three'])
    await orThrow(
      api.POST('/api/v1/sessions/{id}/messages', { params: { path: { id } }, body: { content } }),
    );
  const said: string[] = [];
  const history = everyMessage((before) =>
    orThrow(
      api.GET('/api/v1/sessions/{id}/messages', {
        params: { path: { id }, query: { limit: 2, ...(before !== undefined && { before }) } },
      }),
    ),
  );
  for await (const { content } of history) said.push(content);
  expect(said).toEqual(['Yes.', 'three', 'Yes.', 'two', 'Yes.', 'one']);
  const all: string[] = [];
  const list = (offset: number) =>
    orThrow(api.GET('/api/v1/sessions', { params: { query: { limit: 2, offset } } }));
  for await (const session of everySession(list)) all.push(session.id);
  expect(all).toContain(id);
  expect(new Set(all).size).toBe(all.length);
  for (const name of ['x', 'y', 'z']) await one.mint({ name });
  const admin = adminApi({ baseUrl: originOf(one.a.base), token: one.token });
  const names: string[] = [];
  const tokens = everyItem((cursor) =>
    orThrow(
      admin.GET('/admin/v1/tokens', {
        params: { query: { limit: 2, ...(cursor !== undefined && { cursor }) } },
      }),
    ),
  );
  for await (const token of tokens) names.push(token.name);
  expect(names).toEqual(expect.arrayContaining(['test', 'x', 'y', 'z']));
});

test.each(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'any text will do'])(
  'verified webhooks: the event of a delivery signed with %s, and an error for a forged one',
  async (secret) => {
    const { api } = client();
    await orThrow(
      api.POST('/api/v1/hooks', { body: { url: receiver.url(), events: ['session.created'], secret } }),
    );
    const before = receiver.attempts.length;
    const id = await newSession(client());
    const verified = () =>
      receiver.attempts.slice(before).flatMap(({ body, headers }) => {
        try {
          return [{ event: verifiedEvent<{ session_id: string }>(secret, body, headers), body, headers }];
        } catch {
          return [];
        }
      });
    await eventually(() => expect(verified()).toHaveLength(1));
    const [{ event, body, headers }] = verified() as [ReturnType<typeof verified>[number]];
    expect([event.event, event.data.session_id]).toEqual(['session.created', id]);
    expect(() =>
      verifiedEvent(secret, body.replace('session.created', 'session.deleted'), headers),
    ).toThrow();
  },
);

test('at most 400 lines of its own', () => {
  const files = readdirSync('client/src').filter((name) => name !== 'generated');
  const lines = files.map((name) => readFileSync(`client/src/${name}`, 'utf8').split('\n').length - 1);
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(400);
});
