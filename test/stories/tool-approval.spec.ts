import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { McpBench, scripted, serverB } from '../harness/mcp.js';
import { SocketClient, type SocketFrame } from '../harness/socket-client.js';
import { newSession, TurnStream } from '../harness/turn-stream.js';

const SETTINGS = `
[agent]
tool_approval = "ask"
tool_approval_timeout_ms = 20000
[turns]
# On a busy machine people take long to answer; what is parked is shown again (e2e/parked-turns).
park_after_ms = 60000
[tools.approval]
never = ["own__pid", "own__e*v", "own__read"]
ask = ["own__read"]
[tools.tokens.careful]
deny = ["own__erase"]
`;
const ERASE = { content: '/call own__erase {"text":"all"}' };

const processes = new ProcessBench();
const clients: SocketClient[] = [];
let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  bench = await McpBench.make({ own: scripted(`approval-${process.pid}`) }, SETTINGS);
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => expect((await serverB(gateway, 'own'))?.status).toBe('connected'));
});
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.terminate();
});
afterAll(async () => {
  await gateway.stop();
  await processes.clear();
  await bench.clear();
});

async function open(sessionId: string, token = gateway.token, profile: 'a' | 'b' = 'b', on = gateway) {
  const client = await SocketClient.open(
    `ws://127.0.0.1:${on.started.ports[profile]}/ws/sessions/${sessionId}`,
    { headers: { authorization: `Bearer ${token}` } },
  );
  clients.push(client);
  return client;
}

/** A client whose message has made a call that waits. */
async function asked(profile: 'a' | 'b' = 'b') {
  const sessionId = await newSession(gateway);
  const client = await open(sessionId, gateway.token, profile);
  client.send({ type: 'message', ...ERASE });
  const question = await client.until('tool_approval');
  return { sessionId, client, question };
}

const answer = ({ approval_id }: SocketFrame, decision: string) => ({
  type: 'tool_approval',
  approval_id,
  decision,
});
const resultOf = async (client: SocketClient) => {
  const { content, is_error } = await client.until('tool_result');
  return [is_error, content];
};
const audited = (sessionId: string) =>
  gateway.database.query<{ action: string; outcome: string; actor: string }>(
    `SELECT action, outcome, actor FROM audit_entries WHERE session_id = '${sessionId}' ORDER BY id`,
  );

describe.each(['a', 'b'] as const)('a call that waits, over the WebSocket of Profile %s', (profile) => {
  test('is shown with everything that is needed to answer it', async () => {
    const { client, question } = await asked(profile);
    const call = await client.until('tool_call');
    expect(question).toEqual({
      type: 'tool_approval',
      event_id: expect.stringMatching(/^turn_\w+\.0\.2$/) as string,
      id: call['id'],
      name: 'own__erase',
      approval_id: expect.stringMatching(/^appr_/) as string,
      status: 'pending',
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    });
    expect(client.of('tool_result')).toEqual([]);
    client.send(answer(question, 'deny'));
    await client.until('done');
  });

  test.each([
    ['allow', 'allowed', [false, 'erased']],
    ['deny', 'denied', [true, 'A person refused this call. Do not try it again.']],
  ] as const)(
    'that a frame says to %s is %s, and every viewer sees that',
    async (decision, status, result) => {
      const { sessionId, client, question } = await asked(profile);
      const other = await open(sessionId);
      expect(await other.until('tool_approval')).toEqual(question);
      other.send(answer(question, decision));
      expect(await resultOf(client)).toEqual(result);
      for (const one of [client, other]) {
        expect(await one.until('tool_approval', 2)).toMatchObject({
          approval_id: question['approval_id'],
          status,
        });
        await one.until('done');
      }
      expect(await audited(sessionId)).toContainEqual({
        action: 'approval.decided',
        outcome: status,
        actor: expect.stringMatching(/^token "test" \(tok_\w+\)$/) as string,
      });
    },
  );
});

describe('which calls wait', () => {
  const call = async (line: string) => {
    const client = await open(await newSession(gateway));
    client.send({ type: 'message', content: line });
    await client.untilAny('tool_approval', 'done');
    const waits = client.of('tool_approval').length > 0;
    if (waits) client.send({ type: 'cancel' });
    return waits;
  };

  test.each([
    ['/call own__echo {"text":"x"}', 'a tool that says of itself that it only reads'],
    ['/call own__read {"text":"x"}', 'a tool that is listed to ask, also when it is listed as harmless'],
    ['/call memory_forget {"query":"tea"}', 'a tool of the gateway that destroys'],
  ])('%s waits: %s', async (line) => expect(await call(line)).toBe(true));

  test.each([
    ['/call own__pid {}', 'the operator lists it as harmless'],
    ['/call own__env {}', 'a pattern lists it as harmless'],
  ])('%s does not: %s', async (line) => expect(await call(line)).toBe(false));

  test('with "never", which is the default, only what is listed to ask', async () => {
    await gateway.b.patch('/config', { 'agent.tool_approval': 'never' });
    expect(await call('/call own__erase {"text":"x"}')).toBe(false);
    expect(await call('/call own__read {"text":"x"}')).toBe(true);
    await gateway.b.patch('/config', { 'agent.tool_approval': 'ask' });
  });
});

test('a call can wait even if the database cannot store its arguments unchanged', async () => {
  const client = await open(await newSession(gateway));
  client.send({ type: 'message', content: String.raw`/call own__erase {"text":"a\u0000b\ud800"}` });
  client.send(answer(await client.until('tool_approval'), 'allow'));
  expect(await resultOf(client)).toEqual([false, 'erased']);
  await client.until('done');
});

test('a call that no one answers is denied when its time is over, and viewers see that', async () => {
  await gateway.b.patch('/config', { 'agent.tool_approval_timeout_ms': 300 });
  const { client, question } = await asked();
  expect(await resultOf(client)).toEqual([
    true,
    'Nobody allowed this call within 0.3 s, so it was not made.',
  ]);
  expect((await client.until('tool_approval', 2))['status']).toBe('timeout');
  client.send(answer(question, 'allow'));
  expect(await client.until('error')).toMatchObject({ error: { code: 'not_found' } });
  await gateway.b.patch('/config', { 'agent.tool_approval_timeout_ms': 20_000 });
});

test('the events of a message show it too, and the command line answers', async () => {
  const sessionId = await newSession(gateway);
  const path = `http://127.0.0.1:${gateway.started.ports.a}/api/v1/sessions/${sessionId}/messages`;
  const stream = await TurnStream.open(path, gateway.token, { body: ERASE });
  await stream.until('tool_approval');
  const [question] = stream.of('tool_approval');
  expect(question?.data).toMatchObject({ name: 'own__erase', status: 'pending' });
  const env = { ...bench.env, DATABASE_URL: gateway.database.url };
  const id = String(question?.data['approval_id']);
  const said = await processes.run(['tools', 'allow', id], { env });
  expect([said.code, said.stderr]).toEqual([0, 'The call is allowed.\n']);
  await stream.until('done');
  expect(stream.of('tool_approval').map(({ data }) => data['status'])).toEqual(['pending', 'allowed']);
  expect(stream.of('tool_result').map(({ data }) => data['content'])).toEqual(['erased']);
});

test('a call that waits on one replica is answered on another', async () => {
  const other = await startTestGateway({ database: gateway.database });
  try {
    const { sessionId, client, question } = await asked();
    const elsewhere = await open(sessionId, gateway.token, 'a', other);
    elsewhere.send(answer(question, 'allow'));
    expect(await resultOf(client)).toEqual([false, 'erased']);
    expect(elsewhere.of('error')).toEqual([]);
  } finally {
    await other.stop();
  }
});

describe('who may answer', () => {
  const refusedWith = async (client: SocketClient, code: string) => {
    expect(await client.until('error')).toMatchObject({ error: { code } });
    expect(client.of('tool_result')).toEqual([]);
  };

  test('no one from another session', async () => {
    const { client, question } = await asked();
    const stranger = await open(await newSession(gateway));
    stranger.send(answer(question, 'allow'));
    await refusedWith(stranger, 'not_found');
    client.send(answer(question, 'deny'));
    await client.until('done');
  });

  test.each([
    ['who may only look', ['sessions:read']],
    ['who drives the agent', ['sessions:read', 'sessions:write']],
    ['who sees what waits', ['sessions:read', 'approvals:read']],
  ] as const)('not %s: it takes approvals:write', async (_who, scopes) => {
    const { sessionId, client, question } = await asked();
    const other = await open(sessionId, await gateway.mint({ scopes }));
    other.send(answer(question, 'allow'));
    await refusedWith(other, 'forbidden');
    expect(JSON.stringify(other.of('error'))).toContain('approvals:write');
    client.send(answer(question, 'deny'));
    await client.until('done');
  });

  test('a holder of approvals:write, even one who cannot write messages', async () => {
    const { sessionId, client, question } = await asked();
    const approver = await open(
      sessionId,
      await gateway.mint({ scopes: ['sessions:read', 'approvals:write'] }),
    );
    approver.send({ type: 'message', content: 'Hello' });
    await refusedWith(approver, 'forbidden');
    approver.send(answer(question, 'allow'));
    expect(await resultOf(client)).toEqual([false, 'erased']);
  });

  test('no one allows what their own turns may not do, but they may deny it', async () => {
    const { sessionId, client, question } = await asked();
    const careful = await open(sessionId, await gateway.mint({ name: 'careful' }));
    careful.send(answer(question, 'allow'));
    await refusedWith(careful, 'forbidden');
    careful.send(answer(question, 'deny'));
    expect(await resultOf(client)).toEqual([true, 'A person refused this call. Do not try it again.']);
  });

  test.each([
    [{ type: 'tool_approval' }, 'approval_id'],
    [{ type: 'tool_approval', approval_id: 'appr_1', decision: 'perhaps' }, 'decision'],
    [{ type: 'tool_approval', approval_id: 'appr_1', decision: 'allow', by: 'me' }, 'by'],
  ])('%j names the field that is wrong', async (frame, field) => {
    const client = await open(await newSession(gateway));
    client.send(frame);
    const { error } = (await client.until('error')) as unknown as {
      error: { code: string; message: string };
    };
    expect([error.code, error.message]).toEqual(['bad_request', expect.stringContaining(field)]);
  });
});

test('a turn that is cancelled while a call waits ends the wait too', async () => {
  const { sessionId, client, question } = await asked();
  client.send({ type: 'cancel' });
  await client.until('error');
  await eventually(async () => {
    const rows = await gateway.database.query(
      `SELECT 1 FROM tool_approvals WHERE session_id = '${sessionId}'`,
    );
    expect(rows).toEqual([]);
  });
  client.send(answer(question, 'allow'));
  expect(await client.until('error', 2)).toMatchObject({ error: { code: 'not_found' } });
});

test('a token that is revoked while its call waits ends the wait too', async () => {
  const sessionId = await newSession(gateway);
  const leaver = await open(sessionId, await gateway.mint({ name: 'leaver' }));
  const stayer = await open(sessionId);
  leaver.send({ type: 'message', ...ERASE });
  const question = await stayer.until('tool_approval');
  await gateway.started.app.get(TokensService, { strict: false }).revoke('leaver');
  expect(await stayer.until('error')).toMatchObject({ error: { details: { reason: 'token_revoked' } } });
  stayer.send(answer(question, 'allow'));
  expect(await stayer.until('error', 2)).toMatchObject({ error: { code: 'not_found' } });
  expect(stayer.of('tool_result')).toEqual([]);
});
