import { context, propagation, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { Database } from '../../src/platform/database/database.js';
import { integer, text } from '../../src/platform/database/sql-types.js';
import { statement } from '../../src/platform/database/statement.js';
import { setExporting } from '../../src/platform/tracing/spans.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  type Judgement,
  type JudgingModel,
  type SentRequest,
  startJudgingModel,
} from '../harness/judging-model.js';
import { SocketClient } from '../harness/socket-client.js';

const isSummary = ({ system }: SentRequest) => system.startsWith('You sum up');
const factsIn = (text: string) => [...new Set(text.match(/fact \d+ is \w+/g) ?? [])];

/** Uses only what it is sent: a summary lists the facts in it, an answer gives the requested fact. */
function recall(request: SentRequest): Judgement {
  const text = request.messages.map((one) => one.text).join('\n');
  if (isSummary(request)) return failing ? { status: 400 } : { text: `Known: ${factsIn(text).join('; ')}.` };
  const asked = /which is fact (\d+)/.exec(request.messages.at(-1)!.text)?.[1];
  return { text: factsIn(text).find((fact) => fact.startsWith(`fact ${asked} `)) ?? 'I do not know.' };
}

let failing = false;
let model: JudgingModel;
let gateway: TestGateway;

beforeAll(async () => {
  model = await startJudgingModel('anthropic', recall);
  gateway = await startTestGateway({
    env: {
      ...model.env,
      GATEWAY__AGENT__CONTEXT_TOKENS: '8000',
      GATEWAY__AGENT__MAX_OUTPUT_TOKENS: '800',
    },
  });
});
beforeEach(() => {
  failing = false;
  model.requests.length = 0;
});
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
});

const database = () => gateway.started.app.get(Database, { strict: false });

const LONG_HISTORY = statement({
  name: 'test.long_history',
  params: { session: text, count: integer },
  row: {},
  sql: `
    WITH said AS (
      INSERT INTO messages (id, session_id, turn_id, seq, role, content)
      SELECT 'msg_' || :session || n, :session, 'turn_' || :session || (n + 1) / 2, n,
        CASE WHEN n % 2 = 1 THEN 'user' ELSE 'assistant' END,
        CASE WHEN n <= 10 THEN 'The fact ' || n || ' is secret' || n || '.' ELSE 'Message ' || n || repeat(' and so on', 5) END
      FROM generate_series(1, :count::int) AS n)
    UPDATE sessions SET message_count = :count::int WHERE id = :session`,
});
const SUMMARIES = statement({
  name: 'test.summaries',
  params: { session: text },
  row: { first_seq: integer, last_seq: integer, content: text },
  sql: 'SELECT first_seq, last_seq, content FROM conversation_summaries WHERE session_id = :session ORDER BY last_seq',
});
const CUT = statement({
  name: 'test.cut',
  params: { session: text },
  row: { messages_cut: integer },
  sql: 'SELECT messages_cut FROM sessions WHERE id = :session',
});

/** A session with this many messages. The first ten contain facts. */
async function longSession(count: number, session: object = {}): Promise<string> {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', session);
  await database().query(LONG_HISTORY, { session: body.id, count });
  return body.id;
}

async function say(id: string, content: string): Promise<string> {
  const answer = await gateway.b.post<{ content: string }>(`/sessions/${id}/messages`, { content });
  expect(answer.status).toBe(200);
  return answer.body.content;
}

const summaries = (id: string) => database().query(SUMMARIES, { session: id });

test('a conversation of 2,000 messages answers a question about its first ten', async () => {
  const id = await longSession(2000);
  expect(await say(id, 'which is fact 7?')).toBe('fact 7 is secret7');
  const calls = model.requests.filter(isSummary).length;
  expect(calls).toBeGreaterThan(1);
  const [summary] = await summaries(id);
  expect(summary).toMatchObject({ first_seq: 1, content: expect.stringContaining('secret10') as unknown });
  expect(await say(id, 'which is fact 3?')).toBe('fact 3 is secret3');
  expect(model.requests.filter(isSummary)).toHaveLength(calls);
  expect(await summaries(id)).toHaveLength(1);
});

test('the messages stay readable, and the tokens of the summary are counted for the turn', async () => {
  const id = await longSession(400);
  await say(id, 'which is fact 1?');
  const history = await gateway.b.get(`/sessions/${id}/messages?limit=500`);
  expect(JSON.stringify(history.body)).toContain('The fact 1 is secret1.');
  const used = model.requests.map(({ body }) => Math.ceil(JSON.stringify(body).length / 4));
  const detail = await gateway.b.get<{ token_usage: { input: number } }>(`/sessions/${id}`);
  expect(detail.body.token_usage.input).toBe(used.reduce((sum, one) => sum + one, 0));
});

test('what a compacted conversation sends begins the same for many calls', async () => {
  const id = await longSession(300);
  const sent: string[][] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    await say(id, `which is fact ${turn}?`);
    sent.push(model.requests.at(-1)!.messages.map((message) => JSON.stringify(message)));
  }
  for (const [index, messages] of sent.slice(1).entries())
    expect(messages.slice(0, sent[index]!.length)).toEqual(sent[index]);
});

test('a summary that fails leaves the messages out, and the model and the log say so', async () => {
  failing = true;
  const id = await longSession(400);
  expect(await say(id, 'which is fact 7?')).toBe('I do not know.');
  expect(model.requests.at(-1)!.messages[0]!.text).toContain(
    'The oldest messages of this conversation are left out',
  );
  expect(await summaries(id)).toEqual([]);
  expect(gateway.logLines.join('')).toContain('could not be summarised; they are left out');
});

test('an agent with long answers has less room for the history', async () => {
  await gateway.b.patch('/config', { 'agents.wordy.max_output_tokens': 7000 });
  await say(await longSession(60), 'which is fact 1?');
  expect(model.requests.filter(isSummary)).toEqual([]);
  await say(await longSession(60, { agent: 'wordy' }), 'which is fact 1?');
  expect(model.requests.filter(isSummary)).not.toEqual([]);
  const { body } = model.requests.at(-1)!;
  expect(JSON.stringify(body).length / 4 + Number(body['max_tokens'])).toBeLessThan(8000 * 1.1);
});

test('agent.compaction = "drop" asks for no summary', async () => {
  await gateway.b.patch('/config', { 'agent.compaction': 'drop' });
  const id = await longSession(400);
  expect(await say(id, 'which is fact 7?')).toBe('I do not know.');
  expect(model.requests).toHaveLength(1);
  expect(model.requests[0]!.messages[0]!.text).toContain(
    'The oldest messages of this conversation are left out',
  );
  await gateway.b.patch('/config', { 'agent.compaction': 'summary' });
});

describe('the call for a summary is one like any other', () => {
  test('it is traced within its turn', async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    provider.register();
    setExporting(true);
    const id = await longSession(400);
    await say(id, 'which is fact 1?');
    setExporting(false);
    const spans = exporter.getFinishedSpans();
    await provider.shutdown();
    for (const global of [trace, context, propagation]) global.disable();
    const turn = spans.find(({ name }) => name === 'invoke_agent default');
    const calls = spans.filter(({ name }) => name === 'chat m');
    expect(calls).toHaveLength(model.requests.length);
    expect(calls.length).toBeGreaterThan(1);
    for (const call of calls) {
      expect(call.parentSpanContext?.spanId).toBe(turn?.spanContext().spanId);
      expect(call.attributes['gen_ai.conversation.id']).toBe(id);
    }
  });

  test('its budget may be used up: the turn ends, and nothing is left out for that', async () => {
    const prices = { 'prices."default/m"': { input: 1_000_000, output: 1 }, 'limits.all.daily_usd': 0.001 };
    expect((await gateway.b.patch('/config', prices)).status).toBe(200);
    const id = await longSession(400);
    const ask = () => gateway.b.post(`/sessions/${id}/messages`, { content: 'which is fact 1?' });
    const statuses = [(await ask()).status, (await ask()).status];
    await gateway.b.patch('/config', { 'limits.all': null });
    expect(statuses).toEqual([429, 429]);
    // The first piece took the whole budget: neither another piece nor the answer was requested.
    expect(model.requests).toHaveLength(1);
    expect(await database().query(CUT, { session: id })).toEqual([{ messages_cut: 0 }]);
    expect(await say(id, 'which is fact 1?')).toBe('fact 1 is secret1');
  });

  test('it ends when its turn is cancelled', async () => {
    let isCut = false;
    model.provider.script((response) => {
      response.on('close', () => {
        isCut = true;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    });
    const id = await longSession(400);
    const socket = await SocketClient.open(`ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${id}`, {
      headers: { authorization: `Bearer ${gateway.token}` },
    });
    socket.send({ type: 'message', content: 'which is fact 1?' });
    await eventually(() => expect(model.provider.requests).toHaveLength(1));
    socket.send({ type: 'cancel' });
    expect(await socket.until('error')).toMatchObject({ error: { details: { reason: 'turn_cancelled' } } });
    await eventually(() => expect(isCut).toBe(true));
    expect(await summaries(id)).toEqual([]);
    socket.socket.terminate();
  });
});
