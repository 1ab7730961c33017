import { fetchEventSource } from '@microsoft/fetch-event-source';
import { type Cut, CuttingProxy } from '../harness/cutting-proxy.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { wires } from '../harness/provider-wires.js';
import { beginStream, type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, newSession, providerEnv, TurnStream } from '../harness/turn-stream.js';

jest.setTimeout(60_000);

interface Refusal {
  readonly error: { readonly code: string; readonly message: string; readonly details?: { reason?: string } };
}

let database: TestDatabase;
let provider: ScriptedProvider;
let runner: TestGateway;
let other: TestGateway;
const streams: TurnStream[] = [];
const proxies: CuttingProxy[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await startScriptedProvider();
  const env = { ...providerEnv(provider), GATEWAY__STREAMING__PING_INTERVAL_MS: '100' };
  runner = await startTestGateway({ database, env });
  other = await startTestGateway({ database, env });
  // The parts of a browser that the library expects.
  const listeners = { addEventListener: () => undefined, removeEventListener: () => undefined };
  Object.assign(globalThis, { window: globalThis, document: { hidden: false, ...listeners } });
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  for (const proxy of proxies.splice(0)) await proxy.close();
});
afterAll(async () => {
  await Promise.all([runner, other].map((gateway) => gateway.stop()));
  await provider.stop();
  await database.drop();
});

/** An answer in several pieces, a few milliseconds apart. */
function slowAnswer(pieces: readonly string[]): void {
  provider.script(async (response) => {
    const [wire] = wires;
    beginStream(response, ...(wire?.opening ?? []));
    for (const piece of pieces) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      beginStream(response, wire?.text(piece) ?? '');
    }
    beginStream(response, ...(wire?.closing ?? []));
    response.end();
  });
}

const urlOf = (id: string, on = runner) => `${on.b.base}/sessions/${id}/messages`;

async function post(
  on: TestGateway,
  id: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<TurnStream> {
  const stream = await TurnStream.open(urlOf(id, on), on.token, { body, headers });
  streams.push(stream);
  return stream;
}

async function refusal(id: string, body: object, lastEventId: string, on = runner) {
  const headers = { accept: 'text/event-stream', 'last-event-id': lastEventId };
  return on.b.post<Refusal>(`/sessions/${id}/messages`, body, headers);
}

async function turnsOf(id: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM turns WHERE session_id = $1',
    [id],
  );
  return row?.n ?? -1;
}

/** What a page does with the library: makes one call, and receives its messages. */
async function ask(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ event: string; data: string }[]> {
  const messages: { event: string; data: string }[] = [];
  await fetchEventSource(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${runner.token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ content: 'Tell me a long story.' }),
    openWhenHidden: true,
    onmessage: ({ event, data }) => void messages.push({ event, data }),
    onerror: () => 100,
  });
  return messages;
}

const textOf = (messages: readonly { event: string; data: string }[]): string =>
  messages
    .filter(({ event }) => event === 'token')
    .map(({ data }) => (JSON.parse(data) as { content: string }).content)
    .join('');

describe('a page that POSTs with @microsoft/fetch-event-source through a proxy that cuts three times', () => {
  const pieces = Array.from({ length: 80 }, (_, n) => `piece ${n} \u{1f600} `);
  const inData: Cut[] = [2, 3, 3].map((n) => ({ text: 'data: {"content', n }));
  const inIds: Cut[] = [3, 4, 5].map((n) => ({ text: '\nid: turn_', n }));
  const beforeAnything: Cut[] = [1, 1, 1].map((n) => ({ text: 'event: token', n }));

  test.each([
    ['in the data of events', inData, {}, 1],
    ['in their ids', inIds, {}, 1],
    ['before the first event', beforeAnything, {}, 1],
    ['in the data, with an Idempotency-Key', inData, { 'idempotency-key': 'a-key-of-a-page' }, 1],
    ['in the data, and comes back to another replica each time', inData, {}, 2],
    ['in the data, with a key, to other replicas', inData, { 'idempotency-key': 'another-key' }, 2],
  ])(
    '%s: the text arrives exactly once, one turn ran, no message is empty',
    async (_where, plan, headers, n) => {
      slowAnswer(pieces);
      const id = await newSession(runner);
      const ports = [runner, other].slice(0, n).map(({ started }) => started.ports.b ?? 0);
      const proxy = new CuttingProxy(ports, plan);
      proxies.push(proxy);
      const base = await proxy.listen();
      const messages = await ask(`${base}/api/v1/sessions/${id}/messages`, headers);
      expect(proxy.cuts).toBe(3);
      expect(textOf(messages)).toBe(pieces.join(''));
      expect(messages.filter(({ event }) => event === 'done')).toHaveLength(1);
      expect(messages.filter(({ data }) => data === '')).toEqual([]);
      expect([provider.requests.length, await turnsOf(id)]).toEqual([1, 1]);
    },
  );
});

test('a POST that is repeated after the end gets the rest of the stored answer, then nothing', async () => {
  slowAnswer(['One, ', 'two, ', 'three.']);
  const id = await newSession(runner);
  const body = { content: 'Count' };
  const first = await post(runner, id, body);
  await first.untilEnded();
  const [token] = first.of('token');
  for (const on of [runner, other]) {
    const again = await post(on, id, body, { 'last-event-id': token?.id ?? '' });
    await again.untilEnded();
    const seen = String(token?.data['content']);
    expect(seen + again.said()).toBe('One, two, three.');
    expect(again.of('done').map(({ data }) => data)).toEqual(first.of('done').map(({ data }) => data));
    const last = again.of('done')[0]?.id ?? '';
    const nothing = await post(on, id, body, { 'last-event-id': last });
    await nothing.untilEnded();
    expect([nothing.response.status, nothing.frames]).toEqual([200, []]);
  }
  expect([provider.requests.length, await turnsOf(id)]).toEqual([1, 1]);
});

test('a key whose turn has ended goes on from the event, too, and its answer is marked as replayed', async () => {
  slowAnswer(['One, ', 'two.']);
  const id = await newSession(runner);
  const body = { content: 'Count' };
  const headers = { 'idempotency-key': 'ended' };
  const first = await post(runner, id, body, headers);
  await first.untilEnded();
  const [token] = first.of('token');
  const again = await post(other, id, body, { ...headers, 'last-event-id': token?.id ?? '' });
  await again.untilEnded();
  expect(again.response.headers.get('idempotency-replayed')).toBe('true');
  expect(String(token?.data['content']) + again.said()).toBe('One, two.');
  const anew = await post(runner, id, body, {
    'idempotency-key': 'never used before',
    'last-event-id': token?.id ?? '',
  });
  expect(anew.response.status).toBe(400);
  const otherKey = await post(runner, id, body, {
    'idempotency-key': 'never-used-before',
    'last-event-id': token?.id ?? '',
  });
  await otherKey.untilEnded();
  expect(otherKey.of('done')).toHaveLength(1);
  expect([provider.requests.length, await turnsOf(id)]).toEqual([1, 1]);
  expect(runner.logLines.filter((line) => line.includes('did not keep its answer'))).toEqual([]);
});

test('a turn that fails while no one looks is reported as failed, with what it had said', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  const id = await newSession(runner);
  const body = { content: 'Hi' };
  const first = await post(runner, id, body);
  answer.say('Hel');
  await first.untilSaid('Hel');
  first.close();
  answer.say('lo');
  await eventually(async () => {
    const cancelled = await database.query(
      `UPDATE sessions SET cancel_fence = turn_fence WHERE id = $1 RETURNING id`,
      [id],
    );
    expect(cancelled).toHaveLength(1);
  });
  const again = await post(other, id, body, { 'last-event-id': first.of('token')[0]?.id ?? '' });
  await again.untilEnded();
  expect(again.said()).toBe('lo');
  expect(again.of('error')).toHaveLength(1);
});

describe('Last-Event-ID of a POST that does not fit begins no turn, and says what to do', () => {
  let id: string;
  let seen: string;
  const picture = (data: string) => ({
    content: 'Look',
    attachments: [{ type: 'image', mime_type: 'image/png', name: 'x.png', data }],
  });
  beforeAll(async () => {
    slowAnswer(['Nice.']);
    id = await newSession(runner);
    const first = await post(runner, id, picture('aGVsbG8='));
    await first.untilEnded();
    seen = first.of('token')[0]?.id ?? '';
  });
  afterEach(async () => {
    expect([provider.requests.length, await turnsOf(id)]).toEqual([1, 1]);
  });

  test.each(['yesterday', 'turn_x.1.2', '../../1', 'turn_01jd8v3q5ze0psx2w9t6m4k7ah'])(
    '400 | "%s" is no id',
    async (text) => {
      const { status, body } = await refusal(id, picture('aGVsbG8='), text);
      expect([status, body.error.code]).toEqual([400, 'bad_request']);
      expect(body.error.message).toMatch(/leave the header out/);
    },
  );

  test.each(['runner', 'other'])(
    '409 | a turn that is not there, or of another session, at the %s',
    async (where) => {
      const on = where === 'runner' ? runner : other;
      const elsewhere = await newSession(on);
      const unknown = 'turn_01jd8v3q5ze0psx2w9t6m4k7ah.3.0';
      for (const [session, event] of [
        [id, unknown],
        [elsewhere, seen],
      ] as const) {
        const { status, body } = await refusal(session, picture('aGVsbG8='), event, on);
        expect([status, body.error.code]).toEqual([409, 'conflict']);
        expect(body.error.details?.reason).toBe('unknown_last_event_id');
      }
      expect(await turnsOf(elsewhere)).toBe(0);
    },
  );

  test.each([
    ['another text', { ...picture('aGVsbG8='), content: 'Look!' }],
    ['other bytes', picture('aGVsbG8h')],
    ['no attachment', { content: 'Look' }],
  ])('409 | the message has %s', async (_what, body) => {
    const answer = await refusal(id, body, seen);
    expect([answer.status, answer.body.error.details?.reason]).toEqual([
      409,
      'last_event_id_of_other_message',
    ]);
  });

  test('400 | a body that no message may have', async () => {
    expect((await refusal(id, { content: '' }, seen)).status).toBe(400);
  });

  test('404 | a session that the caller may not see', async () => {
    const bound = runner.caller('b', await runner.mint({ user: 'somebody else' }));
    const headers = { accept: 'text/event-stream', 'last-event-id': seen };
    expect((await bound.post(`/sessions/${id}/messages`, picture('aGVsbG8='), headers)).status).toBe(404);
  });
});

test('the answer to a message that a stopping replica cannot show to its end is cut, so that its reader comes back', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  const id = await newSession(runner);
  const body = { content: 'Hi' };
  const first = await post(runner, id, body);
  answer.say('Hello');
  await first.untilSaid('Hello');
  const lastId = first.of('token')[0]?.id ?? '';
  first.close();
  const third = await startTestGateway({ database, env: providerEnv(provider) });
  const headers = {
    accept: 'text/event-stream',
    authorization: `Bearer ${third.token}`,
    'last-event-id': lastId,
  };
  const response = await fetch(urlOf(id, third), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const reading = response.text();
  await third.stop();
  await expect(reading).rejects.toThrow();
  answer.finish();
  const again = await post(runner, id, body, { 'last-event-id': lastId });
  await again.until('done');
});
