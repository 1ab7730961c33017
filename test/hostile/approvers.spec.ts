import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { issuerToml, TestIssuer } from '../harness/identity.js';
import { McpBench, scripted, serverB } from '../harness/mcp.js';
import { SocketClient } from '../harness/socket-client.js';

const SETTINGS = `
[agent]
tool_approval_timeout_ms = 60000
[tools.approval]
ask = ["own__*"]
[agents.support]
description = "Answers customers"
`;
const ERASE = '/call own__erase {"text":"all"}';

interface Approval {
  id: string;
  session_id: string;
  user_id: string;
  status: string;
}
interface Refusal {
  error: { message: string; details: { reason?: string } | null };
}

let issuer: TestIssuer;
let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  issuer = await TestIssuer.open();
  const roles = issuerToml(issuer);
  bench = await McpBench.make({ own: scripted(`approvers-${process.pid}`) }, SETTINGS + roles);
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => expect((await serverB(gateway, 'own'))?.status).toBe('connected'));
});
afterAll(async () => {
  await gateway.stop();
  await issuer.close();
  await bench.clear();
});

const pathOf = ({ id }: Approval) => `/approvals/${id}/decision`;
const allowed = async (approval: Approval, token: string) =>
  (await gateway.adminCaller(token).post<Refusal>(pathOf(approval), { decision: 'allow' })).status;
const turnsOf = (sessionId: string) =>
  gateway.database.query<{ status: string }>(`SELECT status FROM turns WHERE session_id = $1`, [sessionId]);

/** A call that waits in a session of this token. */
async function asked(token = gateway.token, session: object = {}): Promise<Approval> {
  const { body } = await gateway.caller('b', token).post<{ id: string }>('/sessions', session);
  const sent = await gateway
    .caller('b', token)
    .post(`/sessions/${body.id}/messages`, { content: ERASE }, { prefer: 'respond-async' });
  expect(sent.status).toBe(202);
  let approval: Approval | undefined;
  await eventually(async () => {
    const { items } = (await gateway.admin.get<{ items: Approval[] }>('/approvals?limit=500')).body;
    approval = items.find(({ session_id }) => session_id === body.id);
    expect(approval).toBeDefined();
  });
  return approval!;
}
/** A token that this one creates over HTTP. */
async function madeBy(
  token: string,
  name: string,
  more: object = {},
): Promise<{ id: string; token: string }> {
  const made = await gateway
    .adminCaller(token)
    .post<{ id: string; token: string }>('/tokens', { name, preset: 'admin', ...more });
  expect(made.status).toBe(201);
  return made.body;
}
const deny = async (approval: Approval) =>
  expect((await gateway.admin.post(pathOf(approval), { decision: 'deny' })).status).toBe(200);

describe('"`tools.approval.separate = true`: who asked may not decide"', () => {
  let asker: string;
  beforeAll(async () => {
    await gateway.b.patch('/config', { 'tools.approval.separate': true });
    asker = await gateway.mint({ name: 'asker' });
  });
  afterAll(() => gateway.b.patch('/config', { 'tools.approval.separate': null }));

  test('nor with a token that it made, or that such a one made: nobody gives more than they hold', async () => {
    const approval = await asked(asker);
    const child = await madeBy(asker, 'child');
    const grandchild = await madeBy(child.token, 'grandchild');
    expect([
      await allowed(approval, child.token),
      await allowed(approval, grandchild.token),
      await allowed(approval, asker),
    ]).toEqual([403, 403, 403]);
    await deny(approval);
  });

  test('nor with the token of a colleague that it rotated, whose secret it holds', async () => {
    const approval = await asked(asker);
    const colleague = await madeBy(gateway.token, 'colleague');
    const rotated = await gateway
      .adminCaller(asker)
      .post<{ token: string }>(`/tokens/${colleague.id}/rotate`, {});
    expect(rotated.status).toBe(201);
    expect(await allowed(approval, rotated.body.token)).toBe(403);
    await deny(approval);
  });

  test('nor beside the stream of the session', async () => {
    const approval = await asked(asker);
    const child = await madeBy(asker, 'socket child');
    const client = await SocketClient.open(
      `ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${approval.session_id}`,
      { headers: { authorization: `Bearer ${child.token}` } },
    );
    client.send({ type: 'tool_approval', approval_id: approval.id, decision: 'allow' });
    expect(await client.until('error')).toMatchObject({ type: 'error' });
    client.socket.terminate();
    await deny(approval);
  });

  test('a person who asked with a bound token does not decide with a JWT, nor the other way round', async () => {
    const ada = await issuer.sign({ sub: 'ada' });
    const laptop = await madeBy(gateway.token, 'laptop', { user_id: `${issuer.url}|ada` });
    const byLaptop = await asked(laptop.token);
    expect(await allowed(byLaptop, ada)).toBe(403);
    const byJwt = await asked(ada, { user_id: 'a customer' });
    expect(await allowed(byJwt, (await madeBy(ada, 'her own')).token)).toBe(403);
    expect(await allowed(byJwt, await issuer.sign({ sub: 'grace' }))).toBe(200);
    await deny(byLaptop);
  });

  test('the token that made the asking one may, and so may another that it made', async () => {
    const maker = await gateway.mint({ name: 'platform' });
    const [service, operator] = [await madeBy(maker, 'service'), await madeBy(maker, 'operator')];
    expect(await allowed(await asked(service.token), operator.token)).toBe(200);
    expect(await allowed(await asked(service.token), maker)).toBe(200);
  });
});

test('what ran out of time is decided by nobody, and its call is not made', async () => {
  const approval = await asked();
  await gateway.database.query(`UPDATE tool_approvals SET expires_at = now() WHERE id = $1`, [approval.id]);
  expect(await allowed(approval, gateway.token)).toBe(404);
  await eventually(async () =>
    expect((await turnsOf(approval.session_id)).map(({ status }) => status)).toEqual(['completed']),
  );
  expect(await allowed(approval, gateway.token)).toBe(404);
  const { body } = await gateway.b.get<{ items: { content: string }[] }>(
    `/sessions/${approval.session_id}/messages`,
  );
  expect(JSON.stringify(body)).toContain('Nobody allowed this call');
  expect(JSON.stringify(body)).not.toContain('erased');
});

test('a token of some agents sees and decides about calls of these alone', async () => {
  const approval = await asked();
  const narrow = await gateway.mint({ name: 'narrow', agents: ['support'] });
  const { body } = await gateway.adminCaller(narrow).get<{ items: Approval[] }>('/approvals?limit=500');
  expect(body.items.map(({ id }) => id)).not.toContain(approval.id);
  expect(await allowed(approval, narrow)).toBe(404);
  const own = await asked(gateway.token, { agent: 'support' });
  expect(await allowed(own, narrow)).toBe(200);
  await deny(approval);
});

test.each(['viewer', 'sessions:write only'])('%s decides nothing', async (kind) => {
  const approval = await asked();
  const rights = kind === 'viewer' ? { preset: 'viewer' } : { scopes: ['sessions:write'], preset: undefined };
  const made = await madeBy(gateway.token, kind, rights);
  expect(await allowed(approval, made.token)).toBe(403);
  await deny(approval);
});

test.each([
  ['no decision', {}],
  ['a word that is none', { decision: 'allowed' }],
  ['a list', { decision: ['allow'] }],
  ['somebody else as who decides', { decision: 'allow', decided_by: 'grace' }],
  ['a reason that is too long', { decision: 'allow', reason: 'x'.repeat(1001) }],
])('a body with %s is 400 and decides nothing', async (_title, body) => {
  const approval = await asked();
  expect((await gateway.admin.post(pathOf(approval), body)).status).toBe(400);
  await deny(approval);
});

test('a session that has ended takes its call along', async () => {
  const approval = await asked();
  expect((await gateway.b.delete(`/sessions/${approval.session_id}`)).status).toBe(204);
  expect(await allowed(approval, gateway.token)).toBe(404);
});
