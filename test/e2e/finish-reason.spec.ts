import { channelEnv, untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { postInbound } from '../harness/inbound.js';
import { type WireFrames, wires } from '../harness/provider-wires.js';
import { beginStream, type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { SocketClient } from '../harness/socket-client.js';
import { newSession, TurnStream } from '../harness/turn-stream.js';

/** The reasons with which each provider stops, and what the gateway makes of them. */
const ENDINGS: Readonly<Record<WireFrames['kind'], readonly (readonly [string, string])[]>> = {
  openai: [
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['refusal', 'refusal'],
  ],
  anthropic: [
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refusal'],
  ],
};
const SECRET = 'a raw secret of the desk channel';

/** The last events of an answer that stops for this reason. `counted` says whether they include the usage. */
function closing(wire: WireFrames, reason: string, counted: boolean): (object | string)[] {
  if (wire.kind === 'anthropic') {
    const usage = counted ? { usage: { output_tokens: 2 } } : {};
    return [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: reason }, ...usage },
      { type: 'message_stop' },
    ];
  }
  const isRefusal = reason === 'refusal';
  const delta = isRefusal ? { refusal: ' I may not go on.' } : {};
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  return [
    { model: 'm', choices: [{ index: 0, delta, finish_reason: isRefusal ? 'stop' : reason }] },
    ...(counted ? [{ model: 'm', choices: [], usage }] : []),
    'data: [DONE]\n\n',
  ];
}

/** The events before the text, without the counts that begin Anthropic's wire. */
function uncounted(wire: WireFrames): readonly object[] {
  if (wire.kind === 'openai') return wire.opening;
  return [{ type: 'message_start', message: { model: 'm' } }, ...wire.opening.slice(1)];
}

interface ModelOutput {
  readonly role: string;
  readonly content: string;
  readonly tokens_used: number;
  readonly finish_reason?: string;
  readonly usage_estimated?: boolean;
  readonly incomplete?: string;
}

describe.each(wires)('the $kind wire', (wire) => {
  let provider: ScriptedProvider;
  let gateway: TestGateway;
  let other: TestGateway;

  beforeAll(async () => {
    provider = await startScriptedProvider();
    const env = {
      GATEWAY__PROVIDER__KIND: wire.kind,
      GATEWAY__PROVIDER__API_KEY: 'key-of-a-scripted-provider',
      GATEWAY__PROVIDER__BASE_URL: wire.kind === 'openai' ? `${provider.url}/v1` : provider.url,
      GATEWAY__PROVIDER__MODEL: 'm',
      ...channelEnv('desk', { type: 'webhook', secret: SECRET, allowed_users: '*' }),
    };
    gateway = await startTestGateway({ env });
    other = await startTestGateway({ env, database: gateway.database });
    await untilChannel(gateway, 'desk', 'connected');
  });
  afterAll(async () => {
    await other.stop();
    await gateway.stop();
    await provider.stop();
  });

  const [whole = '', cut = ''] = ENDINGS[wire.kind].map(([reason]) => reason);
  const endWith = (reason: string, { text = 'Once upon a', counted = true } = {}): void =>
    provider.script((response) => {
      const opening = counted ? wire.opening : uncounted(wire);
      beginStream(
        response,
        ...opening,
        ...(text === '' ? [] : [wire.text(text)]),
        ...closing(wire, reason, counted),
      );
      response.end();
    });
  async function history(id: string): Promise<ModelOutput[]> {
    return (await gateway.a.get<{ messages: ModelOutput[] }>(`/sessions/${id}/messages`)).body.messages;
  }

  describe.each(ENDINGS[wire.kind])(
    'an answer that ends with %s has finish_reason %s',
    (reason, expected) => {
      beforeEach(() => endWith(reason));

      test.each(['a', 'b'] as const)('in the answer and in the history of Profile %s', async (profile) => {
        const id = await newSession(gateway);
        const path = `/sessions/${id}/messages`;
        const answer = await gateway[profile].post<ModelOutput>(path, { content: 'Tell me a story.' });
        expect(answer.status).toBe(200);
        expect(answer.body.finish_reason).toBe(expected);
        expect(answer.body).not.toHaveProperty('usage_estimated');
        const { body } = await gateway[profile].get<{ messages: ModelOutput[] }>(path);
        expect(body.messages.map((said) => [said.role, said.finish_reason])).toEqual([
          ['user', undefined],
          ['assistant', expected],
        ]);
      });

      test('in the `done` of a stream, of a WebSocket, and on another replica', async () => {
        const id = await newSession(gateway);
        const url = (on: TestGateway) => `${on.a.base}/sessions/${id}/messages`;
        const socket = await SocketClient.open(
          `ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${id}`,
          { headers: { authorization: `Bearer ${gateway.token}` } },
        );
        const elsewhere = await TurnStream.open(url(other), other.token);
        const stream = await TurnStream.open(url(gateway), gateway.token, { body: { content: 'Hi' } });
        await stream.until('done');
        await elsewhere.until('done');
        const frames = [
          stream.of('done')[0]?.data,
          elsewhere.of('done')[0]?.data,
          await socket.until('done'),
        ];
        expect(frames.map((done) => done?.['finish_reason'])).toEqual([expected, expected, expected]);
        stream.close();
        elsewhere.close();
        socket.socket.terminate();
      });
    },
  );

  test('an answer that was cut off says so by `incomplete`, and has no finish_reason', async () => {
    provider.script((response) => {
      beginStream(response, ...wire.opening, wire.text('Once upon'));
      setTimeout(() => response.destroy(), 50);
    });
    const id = await newSession(gateway);
    expect((await gateway.a.post(`/sessions/${id}/messages`, { content: 'Hi' })).status).toBe(502);
    const [, said] = await history(id);
    expect(said).toMatchObject({ content: 'Once upon', incomplete: 'failed' });
    expect(said).not.toHaveProperty('finish_reason');
  });

  test('messages of an earlier version are shown without a finish_reason', async () => {
    endWith(whole);
    const id = await newSession(gateway);
    await gateway.a.post(`/sessions/${id}/messages`, { content: 'Hi' });
    await gateway.database.query(`UPDATE messages SET finish_reason = NULL WHERE session_id = $1`, [id]);
    const [, said] = await history(id);
    expect(said).toMatchObject({ content: 'Once upon a' });
    expect(said).not.toHaveProperty('finish_reason');
    expect((await gateway.a.post(`/sessions/${id}/messages`, { content: 'And?' })).status).toBe(200);
  });

  test.each([
    ['Once upon a', cut, /^Once upon a\n\n\(.*cut off/],
    ['', cut, /room/],
    ['Once upon a', 'refusal', /^Once upon a[^(]*\(I cannot say more/],
  ])('a person on a channel sees that "%s" was ended by %s', async (text, reason, expected) => {
    endWith(reason, { text });
    const answer = await postInbound(gateway, 'desk', SECRET, { user: 'ada', content: 'Tell me a story.' });
    expect(answer.content).toMatch(expected);
  });

  describe('a provider that sends no usage', () => {
    beforeEach(() => endWith(whole, { text: 'x'.repeat(400), counted: false }));

    test('has its tokens estimated, and everything that shows them says so', async () => {
      const id = await newSession(gateway);
      const path = `/sessions/${id}/messages`;
      const { body } = await gateway.a.post<ModelOutput>(path, { content: 'y'.repeat(4000) });
      expect(body).toMatchObject({ usage_estimated: true });
      expect(body.tokens_used).toBeGreaterThanOrEqual(1100);
      expect(body.tokens_used).toBeLessThan(4000);
      expect((await history(id))[1]).toMatchObject({ usage_estimated: true, tokens_used: body.tokens_used });
      const stream = await TurnStream.open(gateway.a.base + path, gateway.token, { body: { content: 'Hi' } });
      await stream.until('done');
      expect(stream.of('done')[0]?.data).toMatchObject({ usage_estimated: true });
      stream.close();
      const metrics = (await gateway.operations.get('/metrics')).text;
      const estimated = /provider_tokens_estimated_total\{provider="\w+",direction="output"\} (\d+)/.exec(
        metrics,
      );
      expect(Number(estimated?.[1])).toBeGreaterThanOrEqual(200);
      const lines = gateway.logLines.filter((line) => line.includes('budgets count an estimate'));
      expect(lines).toHaveLength(1);
    });

    test('counts to the budget of a session', async () => {
      const id = await newSession(gateway);
      const path = `/sessions/${id}/messages`;
      await gateway.b.patch('/config', { 'limits.daily_tokens_per_session': 100 });
      expect((await gateway.a.post(path, { content: 'Hi' })).status).toBe(200);
      expect((await gateway.a.post(path, { content: 'Hi' })).status).toBe(429);
      await gateway.b.patch('/config', { 'limits.daily_tokens_per_session': 0 });
    });

    test('counts also when its answer breaks off: a budget is not evaded by hanging up', async () => {
      provider.script((response) => {
        beginStream(response, ...uncounted(wire), wire.text('x'.repeat(400)));
        setTimeout(() => response.destroy(), 50);
      });
      const id = await newSession(gateway);
      await gateway.a.post(`/sessions/${id}/messages`, { content: 'Hi' });
      const [, said] = await history(id);
      expect(said).toMatchObject({ incomplete: 'failed', usage_estimated: true });
      expect(said?.tokens_used).toBeGreaterThanOrEqual(100);
      await eventually(async () => {
        const { body } = await gateway.b.get<{ token_usage: { output: number } }>(`/sessions/${id}`);
        expect(body.token_usage.output).toBe(100);
      });
    });
  });
});
