import { Database } from '../../src/platform/database/database.js';
import { integer } from '../../src/platform/database/sql-types.js';
import { statement } from '../../src/platform/database/statement.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  type Judgement,
  type JudgingModel,
  type SentRequest,
  startJudgingModel,
} from '../harness/judging-model.js';
import { SocketClient } from '../harness/socket-client.js';

const WIRES = ['openai', 'anthropic'] as const;

/** Calls the look-up it was told to, unless it is sent the result of one. */
function lookUpOnce({ messages }: SentRequest): Judgement {
  const last = messages.at(-1)!;
  const question = messages.findLast(({ role, text }) => role === 'user' && /look up/.test(text))!;
  const wanted = [.../look up ([\w ]+)/.exec(question.text)![1]!.split(' ')];
  const seen = new Set(messages.flatMap(({ results }) => results.map(({ content }) => content)));
  const lacking = wanted.filter((key) => !seen.has(`value of ${key}`));
  if (wanted.includes('hang')) return { calls: [{ id: 'call_0', name: 'hang', arguments: {} }] };
  if (lacking.length === 0) return { text: `Known: ${wanted.join(', ')}.` };
  if (last.results.length > 0) return { text: 'It does not say.' };
  // Numbered from the beginning in every answer, as some servers do.
  return {
    text: 'Let me see.',
    calls: lacking.map((key, index) => ({ id: `call_${index}`, name: 'look_up', arguments: { key } })),
  };
}

describe.each(WIRES)('what tools returned stays in the conversation (%s)', (wire) => {
  let model: JudgingModel;
  const COUNT_STEPS = statement({
    name: 'test.count_steps',
    params: {},
    row: { n: integer },
    sql: 'SELECT count(*)::int AS n FROM turn_steps',
  });
  const DELETE_SESSIONS = statement({
    name: 'test.delete_sessions',
    params: {},
    row: {},
    sql: 'DELETE FROM sessions',
  });

  let gateway: TestGateway;
  const called: string[] = [];

  beforeAll(async () => {
    model = await startJudgingModel(wire, lookUpOnce);
    gateway = await startTestGateway({ env: model.env });
    gateway.tools.register({
      name: 'look_up',
      description: 'Looks something up.',
      inputSchema: { type: 'object', properties: { key: { type: 'string' } } },
      run: ({ key }) => {
        called.push(String(key));
        return Promise.resolve(`value of ${String(key)}`);
      },
    });
  });
  beforeEach(() => {
    called.length = 0;
    model.requests.length = 0;
  });
  afterAll(async () => {
    await gateway.stop();
    await model.provider.stop();
  });

  async function session(): Promise<(content: string) => Promise<string>> {
    const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
    return async (content) => {
      const path = `/sessions/${body.id}/messages`;
      const answer = await gateway.b.post<{ content: string }>(path, { content });
      expect(answer.status).toBe(200);
      return answer.body.content;
    };
  }

  test('over ten turns no tool is called again whose result the model sees', async () => {
    const say = await session();
    for (const keys of ['a', 'a b', 'b', 'c', 'a b c', 'd e', 'e', 'f', 'a f', 'a b c d e f'])
      expect(await say(`look up ${keys}`)).toContain(`Known: ${keys.split(' ').join(', ')}.`);
    expect(called).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('the calls of one conversation have ids of their own, each with its result right behind it', async () => {
    const say = await session();
    for (const keys of ['a b', 'c', 'd e']) await say(`look up ${keys}`);
    const { messages } = model.requests.at(-1)!;
    const ids = messages.flatMap(({ calls }) => calls.map(({ id }) => id));
    expect(ids).toHaveLength(5);
    expect(new Set(ids).size).toBe(5);
    expect(messages.flatMap(({ results }) => results.map(({ callId }) => callId))).toEqual(ids);
    const texts = messages.filter(({ role }) => role === 'assistant').map(({ text }) => text);
    expect(texts).toEqual(
      ['a, b', 'c'].flatMap((known) => ['Let me see.', `Known: ${known}.`]).concat('Let me see.'),
    );
  });

  test('a call whose turn was cancelled has a result that says so, and the conversation goes on', async () => {
    const forget = gateway.tools.register({
      name: 'hang',
      description: 'Never ends.',
      inputSchema: { type: 'object' },
      run: () => new Promise(() => undefined),
    });
    const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
    const socket = await SocketClient.open(
      `ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${body.id}`,
      { headers: { authorization: `Bearer ${gateway.token}` } },
    );
    socket.send({ type: 'message', content: 'look up hang' });
    await socket.until('tool_call');
    socket.send({ type: 'cancel' });
    await socket.until('error');
    socket.socket.terminate();
    forget();
    const answer = await gateway.b.post(`/sessions/${body.id}/messages`, { content: 'look up z' });
    expect(answer.status).toBe(200);
    const before = model.requests.at(-2)!.messages;
    expect(before.flatMap(({ calls }) => calls.map(({ name }) => name))).toEqual(['hang']);
    expect(before.flatMap(({ results }) => results)).toEqual([
      {
        callId: 'call_0',
        content: expect.stringContaining('the turn ended before the tool answered') as unknown,
      },
    ]);
  });

  test('results go with their session', async () => {
    const say = await session();
    await say('look up a');
    const database = gateway.started.app.get(Database, { strict: false });
    const steps = () => database.query(COUNT_STEPS);
    expect((await steps())[0]!.n).toBeGreaterThan(0);
    await database.query(DELETE_SESSIONS);
    expect((await steps())[0]!.n).toBe(0);
  });
});
