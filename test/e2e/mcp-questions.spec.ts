import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { asking, McpBench, published, say, serverB, shared } from '../harness/mcp.js';
import { SocketClient } from '../harness/socket-client.js';
import { newSession } from '../harness/turn-stream.js';

const SETTINGS = '[mcp]\nquestion_timeout_ms = 20000\n';
const DATE = { type: 'string', title: 'Day', minLength: 1 };
const FORM = {
  message: 'When do you travel?',
  requestedSchema: {
    type: 'object',
    properties: { date: DATE, seats: { type: 'integer', minimum: 1, maximum: 9, default: 2 } },
    required: ['date'],
  },
};

interface Question {
  readonly id: string;
  readonly status: string;
  readonly tool: string;
  readonly message: string;
  readonly session_id: string;
  readonly answered_by: string | null;
  readonly error?: { code: string; message: string; details?: { reason?: string } };
}

const processes = new ProcessBench();
const clients: SocketClient[] = [];
let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  const servers = {
    trip: asking(`trip-${process.pid}`),
    open: shared(asking(`open-${process.pid}`)),
    mute: { ...asking(`mute-${process.pid}`), elicitation: false },
    hasty: { ...asking(`hasty-${process.pid}`), request_timeout_ms: 700 },
    all: published('everything'),
  };
  bench = await McpBench.make(servers, SETTINGS);
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => {
    for (const name of Object.keys(servers)) expect((await serverB(gateway, name))?.status).toBe('connected');
  }, 90_000);
}, 120_000);
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.terminate();
});
afterAll(async () => {
  await gateway.stop();
  await processes.clear();
  await bench.clear();
});

async function open(sessionId: string, token = gateway.token, on = gateway) {
  const client = await SocketClient.open(`ws://127.0.0.1:${on.started.ports.b}/ws/sessions/${sessionId}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  clients.push(client);
  return client;
}

/** A client whose message has made a call that asks a question. */
async function asked(params: object = FORM, call = 'trip__ask') {
  const sessionId = await newSession(gateway);
  const client = await open(sessionId);
  client.send({ type: 'message', content: `/call ${call} ${JSON.stringify(params)}` });
  const question = await client.until('tool_question');
  return { sessionId, client, question, id: String(question['id']) };
}

const answer = (question_id: string, more: object) => ({ type: 'tool_answer', question_id, ...more });
const told = async (client: SocketClient) => {
  const { content, is_error } = await client.until('tool_result');
  return is_error === true ? content : (JSON.parse(String(content)) as unknown);
};
const listed = async (query = '', as = gateway.admin) =>
  (await as.get<{ items: Question[] }>(`/questions${query}`)).body.items;
const accepted = (more: object = {}) => ({
  action: 'accept',
  content: { date: 'Monday', seats: 2 },
  ...more,
});

describe("a tool's question is an event `tool_question` (id, message, schema, expires_at) to the session's viewers", () => {
  test('is answered over WebSocket: the first answer counts, with the defaults of the question', async () => {
    const { sessionId, client, question, id } = await asked();
    expect(question).toEqual({
      ...{
        type: 'tool_question',
        event_id: expect.any(String) as string,
        call_id: expect.any(String) as string,
      },
      ...{ id: expect.stringMatching(/^ques_/) as string, name: 'trip__ask', status: 'pending' },
      ...{ message: FORM.message, schema: FORM.requestedSchema, expires_at: expect.any(String) as string },
    });
    const other = await open(sessionId);
    expect(await other.until('tool_question')).toEqual(question);
    other.send(answer(id, { action: 'accept', content: { date: 'Monday' } }));
    expect(await told(client)).toEqual(accepted());
    for (const one of [client, other])
      expect((await one.until('tool_question', 2))['status']).toBe('accepted');
    other.send(answer(id, { action: 'decline' }));
    expect(await other.until('error')).toMatchObject({ error: { details: { reason: 'already_answered' } } });
    await client.until('done');
    const audited = await gateway.database.query(
      `SELECT action, outcome, target FROM audit_entries WHERE session_id = '${sessionId}' AND action LIKE 'question%'`,
    );
    expect(audited).toEqual([{ action: 'question.answered', outcome: 'accepted', target: 'trip__ask' }]);
    const kept = await gateway.database.query(`SELECT content FROM tool_questions WHERE id = '${id}'`);
    expect(kept).toEqual([{ content: null }]);
  });

  test.each([['decline'], ['cancel']])('a person may %s', async (action) => {
    const { client, id } = await asked();
    client.send(answer(id, { action }));
    expect(await told(client)).toEqual({ action });
  });

  test('a page that is to be opened is shown with its address', async () => {
    const params = {
      mode: 'url',
      message: 'Sign in',
      url: 'https://example.com/in?x=1',
      elicitationId: 'e1',
    };
    const { client, question, id } = await asked(params);
    expect(question['url']).toBe('https://example.com/in?x=1');
    client.send(answer(id, { action: 'accept' }));
    expect(await told(client)).toEqual({ action: 'accept' });
  });
});

describe('`GET /admin/v1/questions` and `POST /admin/v1/questions/:id/answer`', () => {
  test('list it and answer it, decided once over replicas', async () => {
    const other = await startTestGateway({ database: gateway.database });
    try {
      const { sessionId, client, id } = await asked();
      const elsewhere = await open(sessionId, gateway.token, other);
      await elsewhere.until('tool_question');
      const mine = (await listed('', other.admin)).find((one) => one.id === id);
      expect(mine).toMatchObject({ status: 'pending', tool: 'trip__ask', session_id: sessionId });
      const answers = await Promise.all(
        [gateway, other, gateway, other].map(({ admin }, n) =>
          admin.post<Question>(`/questions/${id}/answer`, {
            action: 'accept',
            content: { date: `day ${n}` },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      const first = answers.findIndex(({ status }) => status === 200);
      expect(await told(client)).toEqual({ action: 'accept', content: { date: `day ${first}`, seats: 2 } });
      const refusal = answers.find(({ status }) => status === 409)?.body.error;
      expect(refusal?.message).toContain('accepted by token "test"');
      expect((await listed('?status=accepted')).map((one) => one.id)).toContain(id);
      expect((await listed()).map((one) => one.id)).not.toContain(id);
    } finally {
      await other.stop();
    }
  });

  test('an answer that is not what was asked for is 400 and says why, and the question waits on', async () => {
    const { client, id } = await asked();
    const tried = async (body: object) => {
      const { status, body: said } = await gateway.admin.post<Question>(`/questions/${id}/answer`, body);
      return [status, said.error?.message];
    };
    expect(await tried({ action: 'accept' })).toEqual([400, 'content: "date" is missing']);
    const content = { date: 'Monday', seats: 12 };
    expect(await tried({ action: 'accept', content })).toEqual([400, 'content: "seats" must be from 1 to 9']);
    const more = { date: 'Monday', wine: true };
    expect(await tried({ action: 'accept', content: more })).toEqual([
      400,
      'content: "wine" is not asked for',
    ]);
    expect((await tried({ action: 'decline', content }))[0]).toBe(400);
    expect((await tried({ action: 'perhaps' }))[0]).toBe(400);
    expect((await tried({ action: 'accept', content: { date: 'x'.repeat(70_000) } }))[0]).toBe(400);
    client.send(answer(id, accepted()));
    expect(await told(client)).toEqual(accepted());
  });

  test('the command line lists it and answers it', async () => {
    const { client, id } = await asked();
    const env = { ...bench.env, DATABASE_URL: gateway.database.url };
    const seen = await processes.run(['tools', 'questions'], { env });
    expect(seen.stdout).toContain(`${id}  trip__ask`);
    const wrong = await processes.run(['tools', 'answer', id], { env });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('"date" is missing') as string]);
    const said = await processes.run(['tools', 'answer', id, '--content', '{"date":"Monday"}'], { env });
    expect([said.code, said.stderr]).toEqual([0, 'The question is answered.\n']);
    expect(await told(client)).toEqual(accepted());
  }, 60_000);
});

describe('answered by who may write to the session', () => {
  test('not by who may only look, nor by a stranger, nor from another session', async () => {
    const { sessionId, client, id } = await asked();
    const looker = await open(sessionId, await gateway.mint({ scopes: ['sessions:read'] }));
    looker.send(answer(id, { action: 'decline' }));
    expect(await looker.until('error')).toMatchObject({ error: { code: 'forbidden' } });
    const elsewhere = await open(await newSession(gateway));
    elsewhere.send(answer(id, { action: 'decline' }));
    expect(await elsewhere.until('error')).toMatchObject({ error: { code: 'not_found' } });
    const mallory = gateway.adminCaller(await gateway.mint({ user: 'mallory' }));
    const refused = await mallory.post(`/questions/${id}/answer`, { action: 'decline' });
    expect(refused.status).toBe(404);
    expect(await listed('', mallory)).toEqual([]);
    expect((await gateway.admin.post('/questions/ques_none/answer', { action: 'decline' })).status).toBe(404);
    client.send(answer(id, accepted()));
    expect(await told(client)).toEqual(accepted());
  });
});

describe('declined', () => {
  test("when nobody answers in time; the waiting does not count to the tool's time-out", async () => {
    await gateway.b.patch('/config', { 'mcp.question_timeout_ms': 1500, 'agent.tool_timeout_ms': 1000 });
    const { client, id } = await asked(FORM, 'hasty__ask');
    expect(await told(client)).toEqual({ action: 'decline' });
    expect((await client.until('tool_question', 2))['status']).toBe('timeout');
    client.send(answer(id, { action: 'decline' }));
    expect(await client.until('error')).toMatchObject({ error: { code: 'not_found' } });
    const slow = await asked({ ...FORM, ms: 30_000 }, 'hasty__ask_slowly');
    slow.client.send(answer(slow.id, { action: 'cancel' }));
    expect(String(await told(slow.client))).toMatch(/timed out|did not answer within/);
    await gateway.b.patch('/config', { 'mcp.question_timeout_ms': 20_000, 'agent.tool_timeout_ms': 60_000 });
  });

  test('without a person: calls of two users on one connection, of which nobody knows whose it is', async () => {
    const slow = say(gateway, '/call open__sleep {"ms":1200}', { user_id: 'ada' });
    const { tool_calls: calls } = await say(gateway, `/call open__ask ${JSON.stringify(FORM)}`, {
      user_id: 'bob',
    });
    expect(JSON.parse(calls[0]?.output ?? '')).toEqual({ action: 'decline' });
    await slow;
  });

  test('a server with elicitation = false is told that it cannot ask', async () => {
    const { tool_calls: calls } = await say(gateway, '/call mute__declared {}');
    expect(calls[0]?.output).toBe('{}');
    const asks = await say(gateway, `/call mute__ask ${JSON.stringify(FORM)}`);
    expect(asks.tool_calls[0]?.output).toContain('-32601');
  });
});

describe('bounds', () => {
  test.each([
    ['a long message', { ...FORM, message: 'x'.repeat(5000) }, 'its message has more than 4096 characters'],
    [
      'many fields',
      {
        message: 'm',
        requestedSchema: {
          type: 'object',
          properties: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f${n}`, { type: 'string' }])),
        },
      },
      'it has more than 32 fields',
    ],
    [
      'a page that is none',
      { mode: 'url', message: 'm', url: 'javascript:alert(1)', elicitationId: 'e' },
      'its URL is none of http or https',
    ],
  ])('%s is refused, and the server reads why', async (_what, params, why) => {
    const { tool_calls: calls } = await say(gateway, `/call trip__ask ${JSON.stringify(params)}`);
    expect(calls[0]?.output).toContain(why);
  });

  test('a call asks at most twenty times, and what follows is declined without asking', async () => {
    await gateway.b.patch('/config', { 'mcp.question_timeout_ms': 50 });
    const { tool_calls: calls } = await say(
      gateway,
      `/call trip__ask_often ${JSON.stringify({ ...FORM, times: 22 })}`,
    );
    expect(JSON.parse(calls[0]?.output ?? '')).toHaveLength(22);
    const rows = await gateway.database.query(`SELECT 1 FROM tool_questions WHERE tool = 'trip__ask_often'`);
    expect(rows).toEqual([]);
    expect(calls[0]?.duration_ms).toBeLessThan(20 * 400);
    await gateway.b.patch('/config', { 'mcp.question_timeout_ms': 20_000 });
  });
});

test('a question that its server withdraws, and one whose turn is cancelled, are asked no more', async () => {
  const { client, id } = await asked(FORM, 'trip__forget');
  expect((await client.until('tool_question', 2))['status']).toBe('cancelled');
  await client.until('done');
  expect((await listed()).map((one) => one.id)).not.toContain(id);
  const cut = await asked();
  cut.client.send({ type: 'cancel' });
  await cut.client.until('error');
  await eventually(async () => expect((await listed()).map((one) => one.id)).not.toContain(cut.id));
});

test("the published server of the protocol's authors asks too, and its tools for it are listed", async () => {
  const sessionId = await newSession(gateway);
  const client = await open(sessionId);
  client.send({ type: 'message', content: '/call all__trigger-elicitation-request {}' });
  const question = await client.until('tool_question');
  const names = Object.keys((question['schema'] as { properties: object }).properties);
  expect(names.length).toBeGreaterThan(5);
  client.send(answer(String(question['id']), { action: 'accept', content: { name: 'Ada' } }));
  const { content } = await client.until('tool_result');
  expect(content).toContain('Ada');
});
