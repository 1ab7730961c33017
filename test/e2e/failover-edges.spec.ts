import { setTimeout as pause } from 'node:timers/promises';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { promptly } from '../harness/promptly.js';
import {
  beginStream,
  type Script,
  type ScriptedProvider,
  startScriptedProvider,
} from '../harness/scripted-provider.js';

/** "A model of the chain that fails before its first text, reasoning or call delta (an opened stream alone is nothing)". */
interface Wire {
  readonly name: 'chat' | 'responses' | 'messages';
  readonly kind: 'openai' | 'anthropic';
  readonly suffix: string;
  /** What an opened stream says before any of its answer. */
  readonly opening: readonly object[];
  readonly deltas: Readonly<Record<'text' | 'reasoning' | 'call', readonly object[]>>;
}

const chunk = (delta: object) => ({ model: 'm', choices: [{ index: 0, delta, finish_reason: null }] });
const call = { name: 'look', arguments: '{"at' };
const WIRES: readonly Wire[] = [
  {
    ...{ name: 'chat', kind: 'openai', suffix: '/v1' },
    opening: [chunk({ role: 'assistant', content: '' })],
    deltas: {
      text: [chunk({ content: 'Well, ' })],
      reasoning: [chunk({ reasoning_content: 'They greet me.' })],
      call: [chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: call }] })],
    },
  },
  {
    ...{ name: 'responses', kind: 'openai', suffix: '/v1' },
    opening: [{ type: 'response.created', response: { model: 'm' } }],
    deltas: {
      text: [{ type: 'response.output_text.delta', output_index: 0, delta: 'Well, ' }],
      reasoning: [
        { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: 'They greet me.' },
      ],
      call: [
        {
          ...{ type: 'response.output_item.added', output_index: 0 },
          item: { type: 'function_call', id: 'fc', call_id: 'c1', name: 'look', arguments: '' },
        },
        { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc', delta: '{"at' },
      ],
    },
  },
  {
    ...{ name: 'messages', kind: 'anthropic', suffix: '' },
    opening: [
      { type: 'message_start', message: { model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ],
    deltas: {
      text: [{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Well, ' } }],
      reasoning: [
        { type: 'content_block_start', index: 1, content_block: { type: 'thinking', thinking: '' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'thinking_delta', thinking: 'They greet.' } },
      ],
      call: [
        {
          ...{ type: 'content_block_start', index: 1 },
          content_block: { type: 'tool_use', id: 'c1', name: 'look', input: {} },
        },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"at' } },
      ],
    },
  },
];

interface AnswerWire {
  readonly content: string;
  readonly model: string;
  readonly error: { readonly message: string; readonly details: { readonly reason?: string } };
}

let model: ScriptedProvider;
let gateway: TestGateway;
beforeAll(async () => {
  model = await startScriptedProvider();
  const provider = ({ name, kind, suffix }: Wire) => ({
    [`GATEWAY__PROVIDERS__${name.toUpperCase()}__KIND`]: kind,
    [`GATEWAY__PROVIDERS__${name.toUpperCase()}__API_KEY`]: 'key-of-a-scripted-provider',
    [`GATEWAY__PROVIDERS__${name.toUpperCase()}__BASE_URL`]: `${model.url}${suffix}`,
    [`GATEWAY__PROVIDERS__${name.toUpperCase()}__COOLDOWN_SECS`]: '0',
    ...(kind === 'openai' && { [`GATEWAY__PROVIDERS__${name.toUpperCase()}__WIRE`]: name }),
    [`GATEWAY__AGENTS__${name.toUpperCase()}__MODELS`]: `${name}/m,spare/offline`,
  });
  gateway = await startTestGateway({
    env: {
      ...(Object.assign({}, ...WIRES.map(provider)) as Record<string, string>),
      GATEWAY__PROVIDERS__SPARE__KIND: 'offline',
      GATEWAY__AGENT__MODELS: 'messages/m,spare/offline',
      GATEWAY__AGENTS__SLOW__MODELS: 'chat/m,messages/m',
      GATEWAY__AGENTS__MIXED__MODELS: 'chat/m,gone/m',
      GATEWAY__PROVIDERS__GONE__KIND: 'openai',
      GATEWAY__PROVIDERS__GONE__API_KEY: 'key-of-gone-4711',
      GATEWAY__PROVIDERS__GONE__BASE_URL: 'http://127.0.0.1:1/v1',
      GATEWAY__PROVIDERS__GONE__MAX_RETRIES: '0',
      GATEWAY__AGENT__FIRST_BYTE_TIMEOUT_MS: '500',
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await model.stop();
});

async function ask(agent: string, content = 'Hello') {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', { agent });
  return gateway.b.post<AnswerWire>(`/sessions/${body.id}/messages`, { content });
}

/** Streams these events, then breaks the connection. */
const breaksAfter =
  (events: readonly object[]): Script =>
  async (response) => {
    beginStream(response, ...events);
    await pause(30);
    response.destroy();
  };

describe.each(WIRES)('a first model on the wire $name', ({ name, opening, deltas }) => {
  test('whose stream was opened and broke before any delta is followed by the next', async () => {
    model.script(breaksAfter(opening));
    const { status, body } = await ask(name);
    expect([status, body.model]).toEqual([200, 'spare/offline']);
    // Once, and twice more after a pause: `max_retries` is 2.
    expect(model.requests).toHaveLength(3);
  });

  test.each(['text', 'reasoning', 'call'] as const)(
    'whose stream breaks after a delta of %s is neither followed nor asked again',
    async (what) => {
      model.script(breaksAfter([...opening, ...deltas[what]]));
      const { status, body } = await ask(name);
      expect([status, body.error.details.reason]).toEqual([502, 'provider_stream_cut']);
      expect(model.requests).toHaveLength(1);
    },
  );

  test('that asks to wait for a minute (429 with Retry-After) is followed within a second, although it has retries', async () => {
    model.script((response) => {
      response.writeHead(429, { 'retry-after': '60', 'content-type': 'application/json' });
      response.end('{"error":{"type":"rate_limit_error","message":"Slow down."}}');
    });
    const { status, body } = await promptly(1000, () => ask(name));
    expect([status, body.model]).toEqual([200, 'spare/offline']);
    expect(model.requests).toHaveLength(1);
  });

  test('that has used its quota up (429, insufficient_quota) is followed without another try', async () => {
    model.script((response) => {
      response.writeHead(429, { 'content-type': 'application/json' });
      response.end(
        '{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"No credit."}}',
      );
    });
    const { status, body } = await ask(name);
    expect([status, body.model]).toEqual([200, 'spare/offline']);
    expect(model.requests).toHaveLength(1);
  });
});

test('"All failed: 502/504 with each reason": 504 when all were too slow, 502 when one was not', async () => {
  model.script(async (response) => {
    await pause(3000, undefined, { ref: false });
    response.destroy();
  });
  const slow = await ask('slow');
  expect([slow.status, slow.body.error.details.reason]).toEqual([504, 'no_model_answered']);
  expect(slow.body.error.message).toMatch(/chat\/m: \S.*within.*messages\/m: \S.*within/);
  const mixed = await ask('mixed');
  expect([mixed.status, mixed.body.error.details.reason]).toEqual([502, 'no_model_answered']);
  expect(mixed.body.error.message).toMatch(/chat\/m: \S.*gone\/m: \S/);
}, 30_000);

test('`/info` and `/status` tell the provider and model of the agent `default`, the first of its chain, and follow changes', async () => {
  const told = async () => {
    const info = (await gateway.a.get<Record<string, unknown>>('/info')).body;
    const status = (await gateway.b.get<{ provider: object }>('/status')).body;
    return [info['default_provider'], info['default_model'], status.provider];
  };
  const first = { name: 'anthropic', model: 'messages/m' };
  expect(await told()).toEqual([first.name, first.model, first]);
  expect((await gateway.b.patch('/config', { 'agent.models': ['chat/m'] })).status).toBe(200);
  const then = { name: 'openai', model: 'chat/m' };
  expect(await told()).toEqual([then.name, then.model, then]);
  await gateway.b.patch('/config', { 'agent.models': null });
  expect((await told())[1]).toBe('messages/m');
});
