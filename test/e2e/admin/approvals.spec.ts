import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import { HookReceiver } from '../../harness/hook-receiver.js';
import { McpBench, scripted, serverB } from '../../harness/mcp.js';
import { newSession } from '../../harness/turn-stream.js';

const SETTINGS = `
[agent]
tool_approval = "ask"
tool_approval_timeout_ms = 60000
[tools.tokens.careful]
deny = ["own__erase"]
`;

interface Approval {
  id: string;
  status: string;
  tool: string;
  session_id: string;
  decided_by: string | null;
  reason: string | null;
}
interface Refusal {
  error: { message: string; details: { reason?: string } | null };
}
interface Answer {
  content: string;
}

let bench: McpBench;
let gateway: TestGateway;
let other: TestGateway;
beforeAll(async () => {
  bench = await McpBench.make({ own: scripted(`admin-approvals-${process.pid}`) }, SETTINGS);
  gateway = await startTestGateway({ env: bench.env });
  other = await startTestGateway({ env: bench.env, database: gateway.database });
  await eventually(async () => expect((await serverB(gateway, 'own'))?.status).toBe('connected'));
});
afterAll(async () => {
  await other.stop();
  await gateway.stop();
  await bench.clear();
});

const pending = async (query = '?status=pending') =>
  (await gateway.admin.get<{ items: Approval[]; next_cursor: string | null }>(`/approvals${query}`)).body;

/** Sends a message whose call waits. Returns the waiting call and the promise of the answer. */
async function asked() {
  const sessionId = await newSession(gateway);
  const answer = gateway.a.post<Answer>(`/sessions/${sessionId}/messages`, {
    content: '/call own__erase {"text":"all"}',
  });
  let approval: Approval | undefined;
  await eventually(async () => {
    approval = (await pending()).items.find(({ session_id }) => session_id === sessionId);
    expect(approval?.tool).toBe('own__erase');
  });
  return { approval: approval!, answer, sessionId };
}

test.each([
  ['allow', 'allowed', 'erased'],
  ['deny', 'denied', 'A person refused this call.'],
])('a call that waits is found and decided on another replica: %s', async (decision, status, said) => {
  const { approval, answer, sessionId } = await asked();
  const decided = await other
    .adminCaller(gateway.token, 'b')
    .post<Approval>(`/approvals/${approval.id}/decision`, { decision, reason: 'asked by phone' });
  expect([decided.status, decided.body]).toEqual([
    200,
    expect.objectContaining({
      status,
      reason: 'asked by phone',
      decided_by: expect.stringMatching(/^token "test"/) as string,
    }),
  ]);
  expect((await answer).body.content).toContain(said);
  const { items } = await pending(`?status=${status}&limit=500`);
  expect(items.map(({ session_id }) => session_id)).toContain(sessionId);
  expect((await pending('')).items.map(({ id }) => id)).not.toContain(approval.id);
});

test('"Decided once over all replicas; the second gets 409 with who decided"', async () => {
  const { approval, answer } = await asked();
  const first = gateway.adminCaller(await gateway.mint({ name: 'grace' }));
  const second = other.adminCaller(await gateway.mint({ name: 'heidi' }), 'b');
  const path = `/approvals/${approval.id}/decision`;
  const all = await Promise.all(
    [first, second, first, second].map((caller, i) =>
      caller.post<Approval & Refusal>(path, { decision: i % 2 ? 'deny' : 'allow' }),
    ),
  );
  const winner = all.find(({ status }) => status === 200)!.body.decided_by!;
  const losers = all.filter(({ status }) => status === 409);
  expect(losers).toHaveLength(3);
  for (const { body } of losers) {
    expect(body.error.details?.reason).toBe('already_decided');
    expect(body.error.message).toContain(winner);
  }
  await answer;
});

test('needs approvals:write, the tool, and to be of that user when bound; an unknown one is 404', async () => {
  const { approval, answer } = await asked();
  const path = `/approvals/${approval.id}/decision`;
  const body = { decision: 'allow' };
  const by = async (options: Parameters<TestGateway['mint']>[0]) =>
    (await gateway.adminCaller(await gateway.mint(options)).post(path, body)).status;
  expect(await by({ scopes: ['sessions:write', 'approvals:read'] })).toBe(403);
  expect(await by({ name: 'careful' })).toBe(403);
  expect(await by({ user: 'somebody-else' })).toBe(404);
  const bound = gateway.adminCaller(await gateway.mint({ user: 'somebody-else' }));
  expect((await bound.get<{ items: Approval[] }>('/approvals')).body.items).toEqual([]);
  expect((await gateway.admin.post('/approvals/appr_nothing/decision', body)).status).toBe(404);
  expect((await gateway.admin.post(path, { decision: 'maybe' })).status).toBe(400);
  expect((await gateway.admin.post(path, { decision: 'deny' })).status).toBe(200);
  await answer;
});

describe('"`tools.approval.separate = true`: who asked may not decide"', () => {
  beforeAll(() => gateway.b.patch('/config', { 'tools.approval.separate': true }));
  afterAll(() => gateway.b.patch('/config', { 'tools.approval.separate': false }));

  test('neither the token that sent the message nor one that is bound to its user; a colleague may', async () => {
    const { approval, answer } = await asked();
    const path = `/approvals/${approval.id}/decision`;
    const [row] = await gateway.database.query<{ user_id: string }>(
      `SELECT user_id FROM tool_approvals WHERE id = '${approval.id}'`,
    );
    const bound = gateway.adminCaller(await gateway.mint({ name: 'ivan', user: row!.user_id }));
    const colleague = gateway.adminCaller(await gateway.mint({ name: 'judy' }));
    expect((await gateway.admin.post(path, { decision: 'allow' })).status).toBe(403);
    expect((await bound.post(path, { decision: 'allow' })).status).toBe(403);
    expect((await colleague.post(path, { decision: 'allow' })).status).toBe(200);
    expect((await answer).body.content).toContain('erased');
  });
});

test('"Events `tool.approval_requested` and `tool.approval_decided`", once each, without the arguments', async () => {
  const receiver = await HookReceiver.open();
  try {
    const hook = { url: receiver.url('/approvals'), events: ['tool.*'] };
    expect((await gateway.a.post('/hooks', hook)).status).toBe(201);
    const { approval, answer, sessionId } = await asked();
    const decision = await gateway.admin.post(`/approvals/${approval.id}/decision`, { decision: 'deny' });
    expect(decision.status).toBe(200);
    await answer;
    await eventually(() => expect(receiver.bodies('/approvals')).toHaveLength(3));
    const [requested, decided, executed] = receiver.bodies('/approvals');
    const facts = { session_id: sessionId, approval_id: approval.id, name: 'own__erase' };
    expect(requested).toMatchObject({ event: 'tool.approval_requested', data: facts });
    expect(decided).toMatchObject({
      event: 'tool.approval_decided',
      data: { ...facts, status: 'denied', decided_by: expect.stringMatching(/^token "test"/) as string },
    });
    expect(executed?.event).toBe('tool.executed');
    expect(JSON.stringify(receiver.bodies('/approvals'))).not.toContain('"all"');
  } finally {
    await receiver.close();
  }
});
