import { setTimeout as sleep } from 'node:timers/promises';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { ToolLedger } from '../faults/support/tool-ledger.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';
import { McpBench, serverB } from '../harness/mcp.js';
import { SocketClient } from '../harness/socket-client.js';
import { newSession, TurnStream } from '../harness/turn-stream.js';

const SETTINGS = `
[agent]
max_wait_ms = 1000
[turns]
park_after_ms = 100
[tools.approval]
ask = ["ledger__note"]
`;
const WAITS = 'awaiting_approval';

const processes = new ProcessBench();
const clients: SocketClient[] = [];
const streams: TurnStream[] = [];
let ledger: ToolLedger;
let bench: McpBench;
let gateway: TestGateway;
let other: TestGateway;
beforeAll(async () => {
  ledger = await ToolLedger.start();
  bench = await McpBench.make({ ledger: { transport: 'http', url: ledger.url } }, SETTINGS);
  gateway = await startTestGateway({ env: bench.env });
  other = await startTestGateway({ env: bench.env, database: gateway.database });
  for (const one of [gateway, other])
    await eventually(async () => expect((await serverB(one, 'ledger'))?.status).toBe('connected'));
});
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  for (const stream of streams.splice(0)) stream.close();
});
afterAll(async () => {
  await processes.clear();
  await other.stop();
  await gateway.stop();
  await bench.clear();
  await ledger.stop();
});

interface Approval {
  id: string;
  session_id: string;
}
interface Refusal {
  error: { details: { reason?: string } | null };
}

let keys = 0;
const call = () => {
  keys += 1;
  const key = `key-${keys}`;
  return { key, content: `/call ledger__note {"key":"${key}"}` };
};
const pathOf = (sessionId: string) => `/sessions/${sessionId}/messages`;
const query = <Row>(text: string) => gateway.database.query<Row & object>(text);

async function turnOf(sessionId: string) {
  const [turn] = await query<{ id: string; status: string; reason: string | null; owner: string }>(
    `SELECT id, status, reason, owner FROM turns WHERE session_id = '${sessionId}' ORDER BY arrival LIMIT 1`,
  );
  return turn!;
}
const untilStatus = (sessionId: string, status: string) =>
  eventually(async () => expect((await turnOf(sessionId)).status).toBe(status), 15_000);

async function pending(sessionId: string): Promise<Approval[]> {
  const { body } = await gateway.admin.get<{ items: Approval[] }>('/approvals?status=pending&limit=500');
  return body.items.filter(({ session_id }) => session_id === sessionId);
}

/** A session whose turn is parked. */
async function parked() {
  const sessionId = await newSession(gateway);
  const { key, content } = call();
  const sent = await gateway.a.post<{ message_id: string }>(
    pathOf(sessionId),
    { content },
    { prefer: 'respond-async' },
  );
  await untilStatus(sessionId, WAITS);
  const [approval] = await pending(sessionId);
  return { sessionId, key, messageId: sent.body.message_id, approval: approval! };
}
const decide = (on: TestGateway, { id }: Approval, decision = 'allow') =>
  on.admin.post(`/approvals/${id}/decision`, { decision });

test('a turn that waits for a person holds no replica, and its session stays busy', async () => {
  const { sessionId, approval, key } = await parked();
  const [session] = await query<{ turn_owner: string; status: string; ahead: boolean }>(
    `SELECT turn_owner, status, quiet_since > now() AS ahead FROM sessions WHERE id = '${sessionId}'`,
  );
  expect(session).toEqual({ turn_owner: 'awaiting approval', status: 'active', ahead: true });
  for (const one of [gateway, other])
    expect((await one.operations.get<string>('/metrics')).body).toContain('agent_gateway_turns_running 0');
  await decide(other, approval, 'deny');
  await untilStatus(sessionId, 'completed');
  expect(ledger.calls.get(key)).toBeUndefined();
});

test('"a caller who waits for the answer gets 202 after agent.max_wait_ms"; the key then gets the answer', async () => {
  const sessionId = await newSession(gateway);
  const { key, content } = call();
  const headers = { 'idempotency-key': `parked-${key}` };
  const send = () =>
    gateway.b.post<{ message_id: string; content: string } & Refusal>(
      pathOf(sessionId),
      { content },
      headers,
    );
  const told = await send();
  expect([told.status, Object.keys(told.body), told.headers.get('preference-applied')]).toEqual([
    202,
    ['message_id'],
    null,
  ]);
  const early = await send();
  expect([early.status, early.body.error.details?.reason]).toEqual([409, 'idempotency_key_in_use']);
  const [approval] = await pending(sessionId);
  await decide(other, approval!);
  await untilStatus(sessionId, 'completed');
  const late = await send();
  expect([late.status, late.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  expect(late.body.content).toContain('noted');
  expect(ledger.calls.get(key)).toBe(1);
});

test('a caller who waits gets the answer when someone decides in time, on any replica', async () => {
  const sessionId = await newSession(gateway);
  const { key, content } = call();
  const answer = gateway.a.post<{ content: string }>(pathOf(sessionId), { content });
  await untilStatus(sessionId, WAITS);
  await decide(other, (await pending(sessionId))[0]!);
  const { status, body } = await answer;
  expect([status, body.content.includes('noted'), ledger.calls.get(key)]).toEqual([200, true, 1]);
});

test('"later messages of the session wait or are 409 with reason `awaiting_approval`"', async () => {
  const { sessionId, approval } = await parked();
  const refused = await other.b.post<Refusal>(pathOf(sessionId), { content: 'Hello?' });
  expect([refused.status, refused.body.error.details?.reason]).toEqual([409, WAITS]);
  const accepted = await other.a.post(
    pathOf(sessionId),
    { content: 'And then?' },
    { prefer: 'respond-async' },
  );
  expect(accepted.status).toBe(202);
  await decide(gateway, approval);
  await eventually(async () => {
    const { body } = await gateway.a.get<{ messages: { role: string }[] }>(pathOf(sessionId));
    expect(body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  }, 15_000);
});

test('viewers go on with it: those who saw it being parked, and those who came later elsewhere', async () => {
  const sessionId = await newSession(gateway);
  const { content, key } = call();
  const url = (on: TestGateway) => `http://127.0.0.1:${on.started.ports.a}/api/v1${pathOf(sessionId)}`;
  const stream = await TurnStream.open(url(gateway), gateway.token, { body: { content } });
  streams.push(stream);
  await untilStatus(sessionId, WAITS);
  const socket = await SocketClient.open(`ws://127.0.0.1:${other.started.ports.b}/ws/sessions/${sessionId}`, {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  clients.push(socket);
  const question = await socket.until('tool_approval');
  expect(question['status']).toBe('pending');
  socket.send({ type: 'tool_approval', approval_id: question['approval_id'], decision: 'allow' });
  await socket.until('done');
  await stream.until('done');
  for (const said of [stream.of('tool_result').map(({ data }) => data), socket.of('tool_result')])
    expect(said).toEqual([expect.objectContaining({ content: 'noted' })]);
  expect(stream.of('restarted')).toHaveLength(1);
  expect(stream.of('error')).toEqual([]);
  expect(ledger.calls.get(key)).toBe(1);
});

describe('what ends the wait', () => {
  const reasonOf = async (sessionId: string) => {
    const { status, reason } = await turnOf(sessionId);
    return [status, reason];
  };

  /** The stored answers of turns that had called a tool before they were parked. */
  const answersOf = async (sessionId: string) => {
    const { body } = await gateway.b.get<{
      messages: { role: string; tool_calls: { name: string }[]; incomplete?: string }[];
    }>(pathOf(sessionId));
    return body.messages
      .filter(({ role }) => role === 'assistant')
      .map(({ tool_calls, incomplete }) => ({ calls: tool_calls.map(({ name }) => name), incomplete }));
  };

  test('cancelling the turn, on any replica', async () => {
    const { sessionId, approval, key } = await parked();
    const socket = await SocketClient.open(
      `ws://127.0.0.1:${other.started.ports.b}/ws/sessions/${sessionId}`,
      { headers: { authorization: `Bearer ${gateway.token}` } },
    );
    clients.push(socket);
    socket.send({ type: 'cancel' });
    await untilStatus(sessionId, 'cancelled');
    expect([await pending(sessionId), (await decide(gateway, approval)).status]).toEqual([[], 404]);
    expect(ledger.calls.get(key)).toBeUndefined();
    expect(await answersOf(sessionId)).toEqual([{ calls: ['ledger__note'], incomplete: 'cancelled' }]);
    const next = await gateway.a.post(pathOf(sessionId), { content: 'Hello' });
    expect(next.status).toBe(200);
  });

  test('cancelling it by its id, as operators do', async () => {
    const { sessionId, approval, key } = await parked();
    const { id } = await turnOf(sessionId);
    const session = await gateway.admin.get<{ running_turn_id: string }>(`/sessions/${sessionId}`);
    expect(session.body.running_turn_id).toBe(id);
    const cancelled = await other.adminCaller(gateway.token).post<{ id: string }>(`/turns/${id}/cancel`);
    expect([cancelled.status, cancelled.body.id]).toEqual([200, id]);
    await eventually(async () => expect(await reasonOf(sessionId)).toEqual(['cancelled', 'turn_cancelled']));
    expect((await decide(gateway, approval)).status).toBe(404);
    expect(ledger.calls.get(key)).toBeUndefined();
    const [tokens] = await query<{ turn: number; session: number }>(
      `SELECT t.input_tokens::float8 AS turn, s.input_tokens::float8 AS session
       FROM turns t JOIN sessions s ON s.id = t.session_id WHERE t.id = '${id}'`,
    );
    expect(tokens?.turn).toBeGreaterThan(0);
    expect(tokens?.turn).toBe(tokens?.session);
    const again = await gateway.admin.post<Refusal>(`/turns/${id}/cancel`);
    expect([again.status, again.body.error.details?.reason]).toEqual([409, 'turn_ended']);
  });

  test.each([
    ['a cancellation', `cancel_fence = turn_fence`],
    ['the end of its session', `status = 'terminated'`],
  ])('%s whose replica died before it could wake the turn', async (_what, change) => {
    const { sessionId, key } = await parked();
    await query(`UPDATE sessions SET ${change} WHERE id = '${sessionId}'`);
    await eventually(async () => expect(await reasonOf(sessionId)).toEqual(['cancelled', 'turn_cancelled']));
    expect(ledger.calls.get(key)).toBeUndefined();
  });

  test('a decision through a replica that does not know of parked turns', async () => {
    const { sessionId, approval, key } = await parked();
    await query(
      `UPDATE tool_approvals SET verdict = 'allowed', decided_by = 'ada', decided_at = now() WHERE id = '${approval.id}'`,
    );
    await untilStatus(sessionId, 'completed');
    expect(ledger.calls.get(key)).toBe(1);
  });

  test('the end of its session', async () => {
    const { sessionId, approval, key } = await parked();
    expect((await other.a.delete(`/sessions/${sessionId}`)).status).toBe(204);
    expect((await decide(gateway, approval)).status).toBe(404);
    await eventually(async () => expect(await reasonOf(sessionId)).toEqual(['cancelled', 'turn_cancelled']));
    expect(ledger.calls.get(key)).toBeUndefined();
  });

  test('the revocation of the token that asked', async () => {
    const sessionId = await newSession(gateway);
    const { content, key } = call();
    const leaver = gateway.caller('a', await gateway.mint({ name: 'leaver' }));
    await leaver.post(pathOf(sessionId), { content }, { prefer: 'respond-async' });
    await untilStatus(sessionId, WAITS);
    const [approval] = await pending(sessionId);
    await other.started.app.get(TokensService, { strict: false }).revoke('leaver');
    await eventually(async () => expect(await reasonOf(sessionId)).toEqual(['cancelled', 'token_revoked']));
    expect(await answersOf(sessionId)).toEqual([{ calls: ['ledger__note'], incomplete: 'cancelled' }]);
    expect((await decide(gateway, approval!)).status).toBe(404);
    expect(ledger.calls.get(key)).toBeUndefined();
  });

  test('the time that people have: the call is denied', async () => {
    await gateway.b.patch('/config', { 'agent.tool_approval_timeout_ms': 700 });
    const sessionId = await newSession(gateway);
    const { content, key } = call();
    const { body } = await gateway.a.post<{ content: string }>(pathOf(sessionId), { content });
    expect(body.content).toContain('Nobody allowed this call within 0.7 s');
    expect(ledger.calls.get(key)).toBeUndefined();
    await gateway.b.patch('/config', { 'agent.tool_approval_timeout_ms': 120_000 });
  });
});

test('"Waiting counts neither to the tool\'s nor to the turn\'s time"', async () => {
  await gateway.b.patch('/config', { 'agent.turn_timeout_ms': 4000, 'agent.tool_timeout_ms': 1000 });
  const { sessionId, approval, key } = await parked();
  await sleep(4500);
  await decide(gateway, approval);
  await untilStatus(sessionId, 'completed');
  expect(ledger.calls.get(key)).toBe(1);
  await gateway.b.patch('/config', { 'agent.turn_timeout_ms': 900_000, 'agent.tool_timeout_ms': 60_000 });
});

describe('when replicas die', () => {
  const env = () => ({
    ...bench.env,
    DATABASE_URL: gateway.database.url,
    GATEWAY_MASTER_KEY: 'a master key that only tests may use',
    GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
  });
  /** Starts a replica and waits for its tools. */
  const serve = async (more: Record<string, string> = {}) => {
    const started = await processes.serve({ env: { ...env(), ...more } });
    const caller = new HttpCaller(started.b, gateway.token);
    await eventually(async () => {
      const { body } = await caller.get<{ servers: { status: string }[] }>('/mcp');
      expect(body.servers.map(({ status }) => status)).toEqual(['connected']);
    }, 15_000);
    return started;
  };
  const ask = (on: GatewayProcess, sessionId: string, content: string) =>
    new HttpCaller(on.b, gateway.token).post<{ message_id: string }>(
      pathOf(sessionId),
      { content },
      { prefer: 'respond-async' },
    );
  const waitsForPerson = (sessionId: string) =>
    eventually(async () => expect(await pending(sessionId)).toHaveLength(1), 15_000);

  test('a call that waited in memory was not sent: the decision that came meanwhile counts, once', async () => {
    const victim = await serve({ GATEWAY__TURNS__PARK_AFTER_MS: '60000' });
    const sessionId = await newSession(gateway);
    const { content, key } = call();
    await ask(victim, sessionId, content);
    await waitsForPerson(sessionId);
    const [before] = await pending(sessionId);
    victim.kill('SIGKILL');
    await victim.ended;
    expect((await decide(other, before!)).status).toBe(200);
    await untilStatus(sessionId, 'completed');
    expect(ledger.calls.get(key)).toBe(1);
    const steps = await query<{ kind: string; text: string }>(
      `SELECT kind, content::text AS text FROM turn_steps WHERE turn_id = '${(await turnOf(sessionId)).id}' ORDER BY number`,
    );
    expect(steps.map(({ kind }) => kind)).toEqual(['asked', 'sent', 'answered']);
    expect(steps[2]?.text).not.toContain('Outcome unknown');
  });

  test('a call that was sent is not made again', async () => {
    // It keeps the turn, so that it makes the call itself.
    const victim = await serve({ GATEWAY__TURNS__PARK_AFTER_MS: '60000' });
    const sessionId = await newSession(gateway);
    const { content, key } = call();
    ledger.unanswered.add(key);
    await ask(victim, sessionId, content);
    await waitsForPerson(sessionId);
    await decide(other, (await pending(sessionId))[0]!);
    await eventually(() => expect(ledger.calls.get(key)).toBe(1), 15_000);
    victim.kill('SIGKILL');
    await victim.ended;
    await eventually(async () => {
      const steps = await query<{ text: string }>(
        `SELECT content::text AS text FROM turn_steps WHERE kind = 'answered' AND turn_id = '${(await turnOf(sessionId)).id}'`,
      );
      expect(steps.map(({ text }) => text.includes('Outcome unknown'))).toEqual([true]);
    }, 20_000);
    expect(ledger.calls.get(key)).toBe(1);
  });

  test('a replica that stops parks at once what it kept', async () => {
    const leaving = await serve({ GATEWAY__TURNS__PARK_AFTER_MS: '60000' });
    const sessionId = await newSession(gateway);
    const { content, key } = call();
    await ask(leaving, sessionId, content);
    await waitsForPerson(sessionId);
    leaving.kill('SIGTERM');
    expect((await leaving.ended).code).toBe(0);
    await untilStatus(sessionId, WAITS);
    await decide(gateway, (await pending(sessionId))[0]!);
    await untilStatus(sessionId, 'completed');
    expect(ledger.calls.get(key)).toBe(1);
  });
});
