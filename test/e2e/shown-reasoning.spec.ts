import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { beginStream, type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { SocketClient } from '../harness/socket-client.js';
import { newSession, TurnStream } from '../harness/turn-stream.js';

const THOUGHT = 'They greet me, so I greet them back, in their own language and as briefly as they did.';
const ANSWER = 'Grüezi.';

const delta = (fields: object, finish_reason: string | null = null) => ({
  model: 'm',
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const block = (index: number, content_block: object, piece: object) => [
  { type: 'content_block_start', index, content_block },
  { type: 'content_block_delta', index, delta: piece },
  { type: 'content_block_stop', index },
];
const message = {
  ...{ type: 'message', id: 'msg', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: ANSWER, annotations: [] }],
};

/** A thought and an answer as each wire streams them, and the option that requests the thought. */
const WIRES = [
  {
    wire: 'chat',
    env: {
      GATEWAY__PROVIDER__KIND: 'openai',
      GATEWAY__PROVIDER__WIRE: 'chat',
      GATEWAY__PROVIDER__MODEL: 'm',
    },
    suffix: '/v1',
    asks: {},
    events: [
      delta({ reasoning_content: THOUGHT.slice(0, 20) }),
      delta({ reasoning_content: THOUGHT.slice(20) }),
      delta({ content: ANSWER }),
      delta({}, 'stop'),
      'data: [DONE]\n\n',
    ],
  },
  {
    wire: 'responses',
    env: {
      GATEWAY__PROVIDER__KIND: 'openai',
      GATEWAY__PROVIDER__WIRE: 'responses',
      GATEWAY__PROVIDER__MODEL: 'gpt-5.4',
    },
    suffix: '/v1',
    asks: { reasoning: { summary: 'auto' } },
    events: [
      { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: THOUGHT.slice(0, 20) },
      { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: THOUGHT.slice(20) },
      { type: 'response.output_text.delta', output_index: 1, delta: ANSWER },
      { type: 'response.output_item.done', output_index: 1, item: message },
      { type: 'response.completed', response: { model: 'm', status: 'completed', output: [] } },
    ],
  },
  {
    wire: 'messages',
    env: { GATEWAY__PROVIDER__KIND: 'anthropic', GATEWAY__PROVIDER__MODEL: 'claude-sonnet-5' },
    suffix: '',
    asks: { thinking: { type: 'adaptive', display: 'summarized' } },
    events: [
      { type: 'message_start', message: { model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } },
      ...block(0, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: THOUGHT }),
      ...block(1, { type: 'text', text: '' }, { type: 'text_delta', text: ANSWER }),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ],
  },
];

describe.each(WIRES)('what the model thinks, by the wire $wire', ({ env, suffix, asks, events }) => {
  let provider: ScriptedProvider;
  let gateway: TestGateway;

  beforeAll(async () => {
    provider = await startScriptedProvider();
    gateway = await startTestGateway({
      env: {
        ...env,
        GATEWAY__PROVIDER__API_KEY: 'key-4711',
        GATEWAY__PROVIDER__BASE_URL: `${provider.url}${suffix}`,
      },
    });
    provider.script((response) => {
      beginStream(response, ...events);
      response.end();
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await provider.stop();
  });
  const show = async (isShown: boolean) =>
    expect((await gateway.b.patch('/config', { 'agent.show_reasoning': isShown })).status).toBe(200);

  /** One turn, seen over the profile's stream and over a WebSocket. */
  async function seen(profile: 'a' | 'b') {
    const id = await newSession(gateway);
    const socket = await SocketClient.open(
      `ws://127.0.0.1:${gateway.started.ports[profile]}/ws/sessions/${id}`,
      { headers: { authorization: `Bearer ${gateway.token}` } },
    );
    const stream = await TurnStream.open(`${gateway[profile].base}/sessions/${id}/messages`, gateway.token, {
      body: { content: 'Grüezi' },
    });
    await stream.until('done');
    await socket.until('done');
    const { body } = await gateway[profile].get(`/sessions/${id}/messages`);
    stream.close();
    socket.socket.terminate();
    return { stream, socket, history: JSON.stringify(body) };
  }

  test('is shown to no one', async () => {
    const { stream, socket, history } = await seen('a');
    expect([stream.of('reasoning'), socket.of('reasoning')]).toEqual([[], []]);
    expect(stream.text + history).not.toContain(THOUGHT.slice(0, 20));
    for (const name of Object.keys(asks)) expect(provider.requests.at(-1)?.body).not.toHaveProperty(name);
  });

  test.each(['a', 'b'] as const)(
    'is shown by Profile %s when the agent shows it, and is not stored',
    async (profile) => {
      await show(true);
      const { stream, socket, history } = await seen(profile);
      await show(false);
      const said = (frames: readonly object[]) =>
        frames.map((frame) => String((frame as { content?: unknown }).content)).join('');
      expect(said(stream.of('reasoning').map(({ data }) => data))).toBe(THOUGHT);
      expect(said(socket.of('reasoning'))).toBe(THOUGHT);
      const kinds = stream.frames.map(({ event }) => event);
      expect(kinds.lastIndexOf('reasoning')).toBeLessThan(kinds.indexOf('token'));
      expect(stream.said()).toBe(ANSWER);
      expect(stream.of('done')[0]?.data).toMatchObject({ content: ANSWER });
      expect(history).toContain(ANSWER);
      expect(history).not.toContain(THOUGHT.slice(0, 20));
      expect(provider.requests.at(-1)?.body).toMatchObject(asks);
    },
  );

  test('is shown of one agent and not of the others', async () => {
    const patch = { agents: { open: { show_reasoning: true } } };
    expect((await gateway.b.patch('/config', patch)).status).toBe(200);
    for (const [agent, count] of [
      ['open', 1],
      ['default', 0],
    ] as const) {
      const { body } = await gateway.b.post<{ id: string }>('/sessions', { agent });
      const stream = await TurnStream.open(`${gateway.b.base}/sessions/${body.id}/messages`, gateway.token, {
        body: { content: 'Grüezi' },
      });
      await stream.until('done');
      expect(Math.sign(stream.of('reasoning').length)).toBe(count);
      stream.close();
    }
  });
});
