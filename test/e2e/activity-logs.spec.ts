import { EventStream } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { answerWith, wires } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { SocketClient } from '../harness/socket-client.js';
import { newSession, providerEnv } from '../harness/turn-stream.js';

interface Line extends Record<string, unknown> {
  readonly level: string;
  readonly module: string;
  readonly message: string;
  readonly session_id?: string;
}

const [openai] = wires as [(typeof wires)[0]];
const CANARY = 'canary-that-people-say-4711';

let provider: ScriptedProvider;
let receiver: HookReceiver;
let gateway: TestGateway;
beforeAll(async () => {
  [provider, receiver] = await Promise.all([startScriptedProvider(), HookReceiver.open()]);
  // The default level, and the default of logging.requests, for an operator who changed nothing.
  gateway = await startTestGateway({
    env: { ...providerEnv(provider), GATEWAY__PROVIDER__MAX_RETRIES: '0' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([provider.stop(), receiver.close()]);
});

const linesOf = (from: TestGateway): Line[] => from.logLines.map((line) => JSON.parse(line) as Line);
const about = (sessionId: string): Line[] =>
  linesOf(gateway).filter(({ session_id }) => session_id === sessionId);

describe('at the default level the log says what people do', () => {
  test('a session created, its turn with what it took, and its end, each one line with the session; also in /logs and its stream', async () => {
    provider.script(answerWith(openai, CANARY));
    const stream = await EventStream.open(`${gateway.b.base}/logs/stream?level=info`, gateway.token);
    const id = await newSession(gateway);
    const answer = await gateway.a.post(`/sessions/${id}/messages`, { content: CANARY });
    expect(answer.status).toBe(200);
    expect((await gateway.a.delete(`/sessions/${id}`)).status).toBe(204);

    await eventually(() => expect(about(id)).toHaveLength(3));
    expect(about(id)).toMatchObject([
      { level: 'info', module: 'sessions', message: `session ${id} created on channel api`, channel: 'api' },
      {
        level: 'info',
        module: 'agent::turn',
        message: `turn completed in session ${id} on channel api`,
        turn_id: expect.stringMatching(/^turn_/) as string,
        channel: 'api',
        model: 'm',
        duration_ms: expect.any(Number) as number,
        input_tokens: 3,
        output_tokens: 2,
        tools: 0,
        outcome: 'completed',
        reason: 'stop',
      },
      {
        level: 'info',
        module: 'sessions',
        message: `session ${id} ended on channel api: deleted`,
        reason: 'deleted',
      },
    ]);
    await eventually(async () => {
      const { body } = await gateway.b.get<{ entries: Line[] }>('/logs?limit=500');
      expect(body.entries.filter(({ session_id }) => session_id === id)).toHaveLength(3);
    });
    await eventually(() => {
      const streamed = stream.of<Line>('log').filter(({ session_id }) => session_id === id);
      expect(streamed.map(({ module }) => module)).toEqual(['sessions', 'agent::turn', 'sessions']);
    });
    stream.close();
    expect(gateway.logLines.join('')).not.toContain(CANARY);
  });

  test('a turn that fails is one line with its reason', async () => {
    provider.script((response) => void response.writeHead(401).end('{}'));
    const id = await newSession(gateway);
    expect((await gateway.a.post(`/sessions/${id}/messages`, { content: CANARY })).status).toBe(502);
    const [line, ...others] = about(id).filter(({ module }) => module === 'agent::turn');
    expect(others).toEqual([]);
    expect(line).toMatchObject({
      level: 'warn',
      message: `turn failed in session ${id} on channel api: provider_refused_credentials`,
      outcome: 'failed',
      reason: 'provider_refused_credentials',
      channel: 'api',
      tools: 0,
    });
    expect(line?.['duration_ms']).toEqual(expect.any(Number));
  });

  test('a session that silence ends', async () => {
    const id = await newSession(gateway);
    await gateway.database.query(
      `UPDATE sessions SET quiet_since = now() - interval '2 hours' WHERE id = $1`,
      [id],
    );
    await eventually(() =>
      expect(about(id).at(-1)).toMatchObject({
        level: 'info',
        message: `session ${id} ended on channel api: it was idle for too long`,
        reason: 'timeout',
      }),
    );
  });

  test('a webhook given up', async () => {
    receiver.behaviour = () => 410;
    const { body } = await gateway.b.post<{ id: string }>('/hooks', {
      url: receiver.url(),
      events: ['session.created'],
    });
    await newSession(gateway);
    await eventually(() =>
      expect(linesOf(gateway).filter(({ hook_id }) => hook_id === body.id)).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          message: `webhook ${body.id} given up: its receiver answered 410`,
        }),
      ),
    );
  });

  test('a refused login, by its address, over HTTP and WebSocket alike; a flood of them is no flood of lines', async () => {
    const stranger = gateway.caller('a', `agw_${'x'.repeat(49)}`);
    for (let n = 0; n < 20; n += 1) expect((await stranger.get('/sessions')).status).toBe(401);
    const socket = SocketClient.open(`ws://127.0.0.1:${gateway.started.ports.a}/ws/sessions/sess_1`, {});
    await expect(socket).rejects.toThrow('401');
    const refused = linesOf(gateway).filter(({ module }) => module === 'gateway::refusals');
    expect(refused).toMatchObject([{ level: 'warn', status: 401, address: '127.0.0.1' }]);
    expect(refused[0]?.message).toMatch(/^login refused from 127\.0\.0\.1: The access token is not valid/);
  });

  test('a token without the scope, by its id', async () => {
    const token = await gateway.mint({ scopes: ['status:read'] });
    expect((await gateway.caller('b', token).get('/sessions')).status).toBe(403);
    const refused = linesOf(gateway).filter(({ status }) => status === 403);
    expect(refused).toMatchObject([{ level: 'warn', token: expect.stringMatching(/^tok_/) as string }]);
    expect(refused[0]?.message).toContain('lacks the scope "sessions:read"');
  });
});

describe('logging.requests', () => {
  const access = (): Line[] => linesOf(gateway).filter(({ module }) => module === 'gateway::access');
  const set = async (requests: string, level: string): Promise<void> => {
    const change = { 'logging.requests': requests, 'logging.level': level };
    expect((await gateway.b.patch('/config', change)).status).toBe(200);
  };
  /** One request of each kind: successful, a caller's mistake, a refused login, a failure of ours. */
  const ask = async (): Promise<Line[]> => {
    provider.script((response) => void response.writeHead(401).end('{}'));
    const id = await newSession(gateway);
    const before = access().length;
    await gateway.a.get('/sessions');
    await gateway.a.get('/sessions/sess_nobody');
    await gateway.caller('a', 'nonsense').get('/sessions');
    await gateway.a.post(`/sessions/${id}/messages`, { content: 'Hello?' });
    await gateway.operations.get('/readyz');
    // Lines are written after the responses, in the order of the requests; this is the last one.
    await gateway.a.get('/sessions', { 'x-request-id': 'last' });
    await new Promise((resolve) => setTimeout(resolve, 100));
    return access()
      .slice(before)
      .filter(({ request_id }) => request_id !== 'last');
  };
  const short = (lines: Line[]) => lines.map(({ level, status }) => `${level} ${String(status)}`);

  test('none: no request has a line, not even one that failed', async () => {
    await set('none', 'debug');
    expect(await ask()).toEqual([]);
  });

  test('errors, the default: 4xx at debug, 5xx at error, refused logins summed elsewhere', async () => {
    expect(
      (await gateway.b.patch('/config', { 'logging.requests': null, 'logging.level': 'debug' })).status,
    ).toBe(200);
    const lines = await ask();
    expect(short(lines)).toEqual(['debug 404', 'error 502']);
    expect(lines[1]).toMatchObject({
      message: 'POST /api/v1/sessions/:id/messages answered 502',
      method: 'POST',
      route: '/api/v1/sessions/:id/messages',
      token: expect.stringMatching(/^tok_/) as string,
      duration_ms: expect.any(Number) as number,
    });
    await set('errors', 'info');
    expect(short(await ask())).toEqual(['error 502']);
  });

  test('all: every request at info', async () => {
    await set('all', 'info');
    expect(short(await ask())).toEqual(['info 200', 'info 404', 'info 401', 'error 502']);
  });
});
