import { EventSource } from 'eventsource';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { promptly } from '../harness/promptly.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, newSession, providerEnv, TurnStream } from '../harness/turn-stream.js';

interface HistoryItem {
  role: string;
  content: string;
  incomplete?: string;
}

let provider: ScriptedProvider;
let gateway: TestGateway;
const streams: TurnStream[] = [];

beforeAll(async () => {
  provider = await startScriptedProvider();
  gateway = await startTestGateway({
    env: { ...providerEnv(provider) },
  });
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const urlOf = (id: string, profile: 'a' | 'b' = 'a') => `${gateway[profile].base}/sessions/${id}/messages`;

async function send(id: string, content: string, profile: 'a' | 'b' = 'a'): Promise<TurnStream> {
  const stream = await TurnStream.open(urlOf(id, profile), gateway.token, { body: { content } });
  streams.push(stream);
  return stream;
}

async function watch(id: string, lastEventId?: string): Promise<TurnStream> {
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const stream = await TurnStream.open(urlOf(id, 'b'), gateway.token, { headers });
  streams.push(stream);
  return stream;
}

async function history(id: string): Promise<HistoryItem[]> {
  return (await gateway.a.get<{ messages: HistoryItem[] }>(`/sessions/${id}/messages`)).body.messages;
}

test.each(['a', 'b'] as const)(
  'Profile %s: the first token leaves before the provider has finished',
  async (profile) => {
    const answer = heldAnswer();
    provider.script(answer.script);
    answer.say('Hello');
    const stream = await send(await newSession(gateway), 'Hi', profile);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    await stream.untilSaid('Hello');
    expect(stream.of('done')).toEqual([]);
    answer.say(', world');
    await stream.untilSaid('Hello, world');
    answer.finish();
    await stream.untilEnded();
    const [done] = stream.of('done');
    expect(done?.data).toEqual({
      message_id: expect.stringMatching(/^msg_/) as string,
      content: 'Hello, world',
      tokens_used: 5,
      model: 'm',
      tool_calls: [],
      finish_reason: 'stop',
    });
  },
);

test('tool calls and their results are shown as they happen', async () => {
  const remove = gateway.tools.register({
    name: 'weather',
    description: 'Says how it is.',
    inputSchema: { type: 'object' },
    run: () => Promise.resolve('sunny'),
  });
  const { wires } = await import('../harness/provider-wires.js');
  const wire = wires[0];
  if (wire === undefined) throw new Error('no wire');
  const after = heldAnswer();
  provider.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [...wire.opening, wire.argument('{}', true)])
      response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.write(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })}\n\n`,
    );
    response.end('data: [DONE]\n\n');
  }, after.script);
  after.say('It is sunny.');
  const stream = await send(await newSession(gateway), 'How is it?');
  await stream.untilSaid('sunny');
  expect(stream.of('tool_call').map(({ data }) => data)).toEqual([
    { id: 'c1', name: 'weather', arguments: {} },
  ]);
  expect(stream.of('tool_result').map(({ data }) => data)).toEqual([
    {
      id: 'c1',
      name: 'weather',
      content: 'sunny',
      is_error: false,
      duration_ms: expect.any(Number) as number,
    },
  ]);
  after.finish();
  await stream.untilEnded();
  expect(stream.frames.map(({ event }) => event)).toEqual(['tool_call', 'tool_result', 'token', 'done']);
  remove();
});

test('a failure before the turn starts is an answer in the envelope, one during it is an event', async () => {
  const nowhere = await TurnStream.open(urlOf('sess_nothing', 'b'), gateway.token, {
    body: { content: 'Hi' },
  });
  expect(nowhere.response.status).toBe(404);
  expect(nowhere.response.headers.get('content-type')).toContain('application/json');
  provider.script((response) => void response.writeHead(400).end('{}'));
  const stream = await send(await newSession(gateway), 'Hi', 'b');
  expect(stream.response.status).toBe(200);
  await stream.untilEnded();
  expect(stream.frames).toHaveLength(1);
  expect(stream.frames[0]?.event).toBe('error');
  expect(stream.frames[0]?.data).toMatchObject({
    error: { code: 'internal_error', details: expect.anything() as object },
  });
});

test('several viewers see the same turn; one that comes late sees it from its start', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  const id = await newSession(gateway);
  const early = await watch(id);
  answer.say('One');
  const sender = await send(id, 'Count');
  await sender.untilSaid('One');
  answer.say(' two');
  await early.untilSaid('One two');
  const late = await watch(id);
  await late.untilSaid('One two');
  answer.say(' three');
  answer.finish();
  for (const stream of [early, sender, late]) {
    await stream.until('done');
    expect(stream.said()).toBe('One two three');
  }
  await sender.untilEnded();
  expect([early.ended, late.ended]).toEqual([false, false]);
});

test('a viewer that reconnects continues after its last event, during the turn and after it', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  answer.say('Before');
  const id = await newSession(gateway);
  const sender = await send(id, 'Tell me');
  await sender.untilSaid('Before');
  const lastId = sender.frames.at(-1)?.id;
  sender.close();
  answer.say(' and after');
  const again = await watch(id, lastId);
  await again.untilSaid(' and after');
  expect(again.said()).toBe(' and after');
  answer.finish();
  await again.until('done');
  const afterwards = await watch(id, lastId);
  await afterwards.until('done');
  expect(afterwards.said()).toBe(' and after');
  const nothingNew = await watch(id, again.frames.at(-1)?.id);
  provider.script((response) => void response.writeHead(400).end('{}'));
  await gateway.a.post(`/sessions/${id}/messages`, { content: 'Next' });
  await nothingNew.until('error');
  expect(nothingNew.frames.map(({ event }) => event)).toEqual(['error']);
});

test("a browser's EventSource follows a session without further code", async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  answer.say('Seen');
  const id = await newSession(gateway);
  const source = new EventSource(urlOf(id), {
    fetch: (url, init) =>
      fetch(url, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${gateway.token}` },
      }),
  });
  const seen: string[] = [];
  source.addEventListener('token', (event) =>
    seen.push((JSON.parse(String(event.data)) as { content: string }).content),
  );
  source.addEventListener('done', () => seen.push('done'));
  await new Promise((resolve) => source.addEventListener('open', resolve));
  await send(id, 'Hi');
  await eventually(() => expect(seen.join('')).toBe('Seen'));
  answer.finish();
  await eventually(() => expect(seen.join('')).toBe('Seendone'));
  source.close();
});

test('a client that disconnects does not cancel its turn', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  answer.say('Whole');
  const id = await newSession(gateway);
  const sender = await send(id, 'Hi');
  await sender.untilSaid('Whole');
  sender.close();
  answer.say(' answer');
  answer.finish();
  await eventually(async () => expect((await history(id)).at(-1)?.content).toBe('Whole answer'));
});

test('what a deleted session had said is kept and marked, and the connection to the provider is closed', async () => {
  const answer = heldAnswer();
  provider.script(answer.script);
  answer.say('Half an');
  const id = await newSession(gateway);
  const sender = await send(id, 'Hi', 'b');
  await sender.untilSaid('Half an');
  await promptly(1000, async () => {
    expect((await gateway.a.delete(`/sessions/${id}`)).status).toBe(204);
    await eventually(() => expect(answer.isCut()).toBe(true));
  });
  await sender.until('error');
  expect(sender.of('error')[0]?.data).toMatchObject({
    error: { code: 'conflict', details: { reason: 'turn_cancelled' } },
  });
  const [, kept] = await history(id);
  expect(kept).toMatchObject({ role: 'assistant', content: 'Half an', incomplete: 'cancelled' });
});

test('what a failing provider had said is kept and marked, and the next turn knows', async () => {
  const { wires } = await import('../harness/provider-wires.js');
  const wire = wires[0];
  if (wire === undefined) throw new Error('no wire');
  provider.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of [...wire.opening, wire.text('I was about to'), wire.overloaded])
      response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  const id = await newSession(gateway);
  const sender = await send(id, 'Hi');
  await sender.until('error');
  expect((await history(id)).at(-1)).toMatchObject({ content: 'I was about to', incomplete: 'failed' });
  const answer = heldAnswer();
  provider.script(answer.script);
  answer.say('Yes.');
  const next = await send(id, 'Go on');
  await next.untilSaid('Yes.');
  expect(JSON.stringify(provider.requests[0]?.body)).toContain(
    'I was about to\\n\\n[This answer was cut off: failed.]',
  );
  answer.finish();
});

test('streams end with a hint to come back when the gateway stops, and new ones are refused', async () => {
  const other = await startTestGateway({ database: gateway.database });
  const id = await newSession(gateway);
  const stream = await TurnStream.open(`${other.b.base}/sessions/${id}/messages`, gateway.token);
  await eventually(() => expect(stream.text).toContain('retry: '));
  await other.stop();
  await stream.untilEnded();
  expect(stream.text).toMatch(/: the gateway is stopping\nretry: \d+\n$/);
});
