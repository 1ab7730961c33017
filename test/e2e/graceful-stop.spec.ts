import { RawConnection, request } from '../contract/support/raw-connection.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

/** A tool that answers when the test says so, and counts its calls. */
function slowTool(gateway: TestGateway): { release: () => void; asked: () => number } {
  let release: () => void = () => undefined;
  let asked = 0;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  gateway.tools.register({
    name: 'slow',
    description: 'Answers when it is told to.',
    inputSchema: { type: 'object' },
    run: async () => {
      asked += 1;
      await released;
      return 'at last';
    },
  });
  return { release, asked: () => asked };
}

async function newSession(gateway: TestGateway): Promise<string> {
  return (await gateway.b.post<{ id: string }>('/sessions', {})).body.id;
}

async function waitFor(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('waited for too long');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a stop waits for the answer to reach its caller, and for the message that waits behind it', async () => {
  const gateway = await startTestGateway();
  const { release, asked } = slowTool(gateway);
  const id = await newSession(gateway);
  const first = gateway.a.post(`/sessions/${id}/messages`, { content: '/call slow {}' });
  await waitFor(() => asked() === 1);
  const behind = gateway.b.post(`/sessions/${id}/messages`, { content: 'And then?' });
  await waitFor(async () => {
    const waiting = await gateway.database.query(`SELECT id FROM turns WHERE status = 'waiting'`);
    return waiting.length === 1;
  });
  const stopped = gateway.stop();
  release();
  expect((await first).status).toBe(200);
  expect((await behind).status).toBe(200);
  await stopped;
});

test('a turn that outlasts the limit of a stop is answered 503 with its reason, not cut off', async () => {
  const gateway = await startTestGateway({ env: { GATEWAY__GATEWAY__DRAIN_TIMEOUT_MS: '200' } });
  const { asked } = slowTool(gateway);
  const id = await newSession(gateway);
  const sent = gateway.b.post<{ error: { details: { reason: string } } }>(`/sessions/${id}/messages`, {
    content: '/call slow {}',
  });
  await waitFor(() => asked() === 1);
  const stopped = gateway.stop();
  const { status, body } = await sent;
  expect(status).toBe(503);
  expect(body.error.details.reason).toBe('turn_handed_over');
  await stopped;
});

test('during the grace of a stop everything is still answered, and every connection is told to end', async () => {
  const gateway = await startTestGateway({ env: { GATEWAY__GATEWAY__DRAIN_GRACE_MS: '60000' } });
  const stopped = gateway.stop();
  const ready = await gateway.operations.get<{ error: object }>('/readyz');
  expect([ready.status, ready.body.error]).toEqual([
    503,
    { gateway: { status: 'down', reason: 'the gateway is shutting down' } },
  ]);
  expect((await gateway.operations.get('/livez')).status).toBe(200);
  expect((await gateway.operations.get('/startupz')).status).toBe(200);
  expect((await gateway.a.get('/health')).status).toBe(503);
  expect((await gateway.b.get('/status/health')).body).toEqual({ healthy: false });
  const created = await gateway.b.post<{ id: string }>('/sessions', {});
  const said = await gateway.a.post(`/sessions/${created.body.id}/messages`, { content: 'Hello' });
  expect([created.status, said.status]).toEqual([201, 200]);
  for (const { headers } of [ready, created, said]) expect(headers.get('connection')).toBe('close');
  gateway.started.hurry();
  await stopped;
  await expect(gateway.b.get('/sessions')).rejects.toThrow();
});

test('a request whose body never comes is not waited for, and the log names what was cut off', async () => {
  const gateway = await startTestGateway();
  const connection = await RawConnection.open(gateway.started.ports.b);
  const headers = { Authorization: `Bearer ${gateway.token}`, 'Content-Type': 'application/json' };
  connection.send(request('POST', '/api/v1/sessions', { ...headers, 'Content-Length': '10' }));
  await gateway.b.get('/sessions');
  await gateway.stop();
  const line = gateway.logLines.find((one) => one.includes('requests are cut off'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({ requests: 1, routes: ['POST /api/v1/sessions'] });
});
