import {
  callOptions,
  callsOf,
  collect,
  endOf,
  modelRequest,
  textOf,
  userMessage,
} from '../../../../../test/harness/model-call.js';
import { PrefixBilling } from '../../../../../test/harness/prefix-billing.js';
import {
  beginStream,
  type ScriptedProvider,
  startScriptedProvider,
} from '../../../../../test/harness/scripted-provider.js';
import type { ModelEvent, ModelMessage, ModelProvider, ModelRequest } from '../../model-provider.port.js';
import { createProvider } from '../create-provider.js';

let server: ScriptedProvider;
let provider: ModelProvider;

beforeAll(async () => {
  server = await startScriptedProvider();
  const choice = {
    kind: 'anthropic',
    apiKey: 'k',
    baseUrl: server.url,
    model: 'fallback',
    why: 'test',
  } as const;
  provider = await createProvider(choice);
});
afterAll(() => server.stop());

const mark = { cache_control: { type: 'ephemeral' } };
const tools = [{ name: 'f', description: 'Does f.', inputSchema: { type: 'object' } }];
const start = (usage: object = {}) => ({ type: 'message_start', message: { model: 'm-1', usage } });
const open = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const grow = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const close = (index: number) => ({ type: 'content_block_stop', index });
const stop = (stop_reason: string, usage: object = {}) => [
  { type: 'message_delta', delta: { stop_reason }, usage },
  { type: 'message_stop' },
];
const json = (partial_json: string) => ({ type: 'input_json_delta', partial_json });
const toolUse = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} });

function answer(...events: object[]): void {
  server.script((response) => {
    beginStream(response, ...events);
    response.end();
  });
}

function ask(more: Partial<ModelRequest> = {}, messages = [userMessage('hello')]): Promise<ModelEvent[]> {
  return collect(provider.stream(modelRequest(messages, more), callOptions()));
}

describe('answers on Anthropic’s wire', () => {
  it('input includes its cached parts; the latest count wins, and none is lost when it is not repeated', async () => {
    const counts = { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 100 };
    answer(
      start({ ...counts, output_tokens: 1 }),
      ...stop('end_turn', {
        output_tokens: 42,
        input_tokens: null,
        output_tokens_details: { thinking_tokens: 30 },
      }),
    );
    const { usage, model } = endOf(await ask());
    expect(usage).toEqual({ input: 115, output: 42, cachedInput: 100, cacheWrite: 5, reasoning: 30 });
    expect(model).toBe('m-1');
  });

  it('an answer without usage counts as zero', async () => {
    answer({ type: 'message_start' }, { type: 'message_delta', delta: {} }, { type: 'message_stop' });
    expect(endOf(await ask({ model: '' }))).toMatchObject({
      usage: { input: 0, output: 0 },
      model: 'fallback',
    });
  });

  it('pings and unknown events are ignored', async () => {
    answer(
      start(),
      { type: 'ping' },
      open(0, { type: 'text', text: '' }),
      { type: 'novelty', index: 0 },
      grow(0, { type: 'text_delta', text: 'hi' }),
      close(0),
      ...stop('end_turn'),
    );
    expect(textOf(await ask())).toBe('hi');
  });

  it('tool calls are complete, even when their pieces are interleaved', async () => {
    answer(
      start(),
      open(0, toolUse('a', 'first')),
      open(1, toolUse('b', 'second')),
      grow(0, json('{"m"')),
      grow(1, json('{"n":')),
      grow(0, json(':1}')),
      grow(1, json('2}')),
      close(0),
      close(1),
      ...stop('tool_use'),
    );
    const events = await ask();
    expect(callsOf(events)).toEqual([
      { id: 'a', name: 'first', arguments: { m: 1 } },
      { id: 'b', name: 'second', arguments: { n: 2 } },
    ]);
    expect(endOf(events).finishReason).toBe('tool_calls');
  });

  it('arguments may arrive whole with the start of a call, and may be cut off', async () => {
    answer(
      start(),
      open(0, { type: 'tool_use', id: 'a', name: 'first', input: { m: 1 } }),
      close(0),
      open(1, toolUse('b', 'second')),
      grow(1, json('{"n":')),
      close(1),
      ...stop('max_tokens'),
    );
    const events = await ask();
    expect(callsOf(events)).toEqual([
      { id: 'a', name: 'first', arguments: { m: 1 } },
      { id: 'b', name: 'second', arguments: {}, problem: 'The arguments are not valid JSON.' },
    ]);
    expect(endOf(events).finishReason).toBe('length');
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refusal'],
    ['something_new', 'stop'],
  ])('the reason %s means %s', async (reason, word) => {
    answer(start(), ...stop(reason));
    expect(endOf(await ask()).finishReason).toBe(word);
  });
});

describe('a model that pauses', () => {
  const searched = [
    { type: 'server_tool_use', id: 's', name: 'web_search', input: { q: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
  ];
  const paused = [
    start({ input_tokens: 10, output_tokens: 1 }),
    open(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
    grow(0, json('{"q":"x"}')),
    close(0),
    open(1, searched[1] ?? {}),
    close(1),
    open(2, { type: 'text', text: 'First, ' }),
    close(2),
    ...stop('pause_turn', { output_tokens: 5 }),
  ];

  it('is asked to continue with everything that it said, unchanged, and both calls are charged', async () => {
    server.script(
      (response) => {
        beginStream(response, ...paused);
        response.end();
      },
      (response) => {
        const rest = [open(0, { type: 'text', text: 'then.' }), close(0)];
        beginStream(
          response,
          start({ input_tokens: 20 }),
          ...rest,
          ...stop('end_turn', { output_tokens: 7 }),
        );
        response.end();
      },
    );
    const events = await ask();
    expect(textOf(events)).toBe('First, then.');
    expect(callsOf(events)).toEqual([]);
    expect(endOf(events)).toMatchObject({ finishReason: 'stop', usage: { input: 30, output: 12 } });
    expect(server.requests[1]?.body).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [...searched, { type: 'text', text: 'First, ' }] },
      ],
    });
  });

  it('is not asked forever', async () => {
    answer(...paused);
    await expect(ask()).rejects.toMatchObject({ details: { reason: 'provider_paused' } });
    expect(server.requests).toHaveLength(9);
  });
});

describe('requests on Anthropic’s wire', () => {
  const sent = async (more: Partial<ModelRequest> = {}, messages = [userMessage('hello')]) => {
    answer(start(), ...stop('end_turn'));
    await ask(more, messages);
    return server.requests[0]?.body ?? {};
  };

  it('have the model, the bound, the system prompt and the tools', async () => {
    expect(await sent({ tools })).toEqual({
      model: 'test-model',
      max_tokens: 512,
      stream: true,
      tools: [{ name: 'f', description: 'Does f.', input_schema: { type: 'object' }, ...mark }],
      system: [{ type: 'text', text: 'Be brief.', ...mark }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello', ...mark }] }],
    });
  });

  it("put all results of tools into one message of the user, with the user's next text", async () => {
    const call = (id: string) => ({ id, name: 'f', arguments: {} });
    const body = await sent({ tools }, [
      userMessage('go'),
      { role: 'assistant', text: ' ', toolCalls: [call('a'), call('b')] },
      { role: 'tool', results: [{ callId: 'b', content: 'B', isError: true }] },
      { role: 'tool', results: [{ callId: 'a', content: 'A', isError: false }] },
      userMessage('and?'),
    ]);
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go', ...mark }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a', name: 'f', input: {} },
          { type: 'tool_use', id: 'b', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'A' },
          { type: 'tool_result', tool_use_id: 'b', content: 'B', is_error: true },
          { type: 'text', text: 'and?', ...mark },
        ],
      },
    ]);
  });

  it('start a history that was cut with the user, and contain no blank text', async () => {
    const body = await sent({ system: '' }, [
      { role: 'tool', results: [{ callId: 'gone', content: 'x', isError: false }] },
      { role: 'assistant', text: 'As I said.', toolCalls: [] },
      userMessage(' '),
    ]);
    expect(body).not.toHaveProperty('system');
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: '(Earlier messages are left out.)', ...mark }] },
      { role: 'assistant', content: [{ type: 'text', text: 'As I said.' }] },
      { role: 'user', content: [{ type: 'text', text: '(empty message)', ...mark }] },
    ]);
  });

  it('send attachments as images and documents where the wire supports them, otherwise as words', async () => {
    const data = Buffer.from('{}').toString('base64');
    const body = await sent({}, [
      userMessage(
        'see',
        { type: 'image', mimeType: 'image/webp', data },
        { type: 'file', name: 'a.pdf', mimeType: 'application/pdf', data },
        { type: 'file', name: 'a.json', mimeType: 'application/json', data },
        { type: 'file', name: 'a.mp3', mimeType: 'audio/mpeg', data },
      ),
    ]);
    expect(body.messages).toMatchObject([
      {
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', media_type: 'image/webp', data } },
          {
            type: 'document',
            title: 'a.pdf',
            source: { type: 'base64', media_type: 'application/pdf', data },
          },
          { type: 'text', text: '[attachment a.json (application/json)]\n{}' },
          { type: 'text', text: '[attachment a.mp3 (audio/mpeg, 2 bytes) cannot be shown to this model]' },
        ],
      },
    ]);
  });

  it('send a lone surrogate or a NUL in a call repaired, as in its record: no wire accepts such a history', async () => {
    const lone = String.fromCharCode(0xd83d);
    answer(
      start(),
      open(0, { type: 'thinking', thinking: 'a', signature: 's' }),
      close(0),
      open(1, { type: 'text', text: `b${lone}` }),
      close(1),
      open(2, { type: 'tool_use', id: 'q', name: 'f', input: { a: `c${lone}`, 'd\0': 1 } }),
      close(2),
      ...stop('tool_use'),
    );
    const { providerState } = endOf(await ask({ tools }));
    expect(providerState).toMatchObject({
      items: [
        { type: 'thinking', thinking: 'a', signature: 's' },
        { type: 'text', text: 'b\ufffd' },
        { type: 'tool_use', id: 'q', name: 'f', input: { a: 'c\ufffd', d: 1 } },
      ],
    });
  });

  describe('after an answer with thinking and a call', () => {
    const blocks = [
      { type: 'thinking', thinking: 'Let me see.', signature: 'sig-1' },
      { type: 'redacted_thinking', data: 'opaque' },
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: 'a', name: 'f', input: { m: 1 } },
    ];

    async function thoughtful(): Promise<ModelMessage[]> {
      answer(
        start(),
        open(0, { type: 'thinking', thinking: '', signature: '' }),
        grow(0, { type: 'thinking_delta', thinking: 'Let me ' }),
        grow(0, { type: 'thinking_delta', thinking: 'see.' }),
        grow(0, { type: 'signature_delta', signature: 'sig-1' }),
        close(0),
        open(1, { type: 'redacted_thinking', data: 'opaque' }),
        close(1),
        open(2, { type: 'text', text: '' }),
        close(2),
        open(3, { type: 'text', text: '' }),
        grow(3, { type: 'text_delta', text: 'Looking.' }),
        close(3),
        open(4, toolUse('a', 'f')),
        grow(4, json('{"m":1}')),
        close(4),
        ...stop('tool_use'),
      );
      const events = await ask({ tools });
      expect(textOf(events)).toBe('Looking.');
      expect(events[0]).toEqual({ type: 'reasoning', text: 'Let me see.' });
      const { providerState } = endOf(events);
      return [
        userMessage('hello'),
        { role: 'assistant', text: 'Looking.', toolCalls: callsOf(events), providerState },
        { role: 'tool', results: [{ callId: 'a', content: 'A', isError: false }] },
      ];
    }

    it('every block is sent back unchanged, before the result', async () => {
      const messages = await thoughtful();
      expect((await sent({ tools }, messages)).messages).toMatchObject([
        { role: 'user' },
        { role: 'assistant', content: blocks },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] },
      ]);
    });

    it('another model is not sent the thinking of this one', async () => {
      const messages = await thoughtful();
      const body = await sent({ tools, model: 'other-model' }, messages);
      expect(body.messages).toMatchObject([{}, { role: 'assistant', content: blocks.slice(2) }, {}]);
    });

    it('what is sent back may have been stored as JSON meanwhile, and no one else changes it', async () => {
      const messages = JSON.parse(JSON.stringify(await thoughtful())) as ModelMessage[];
      expect(messages[1]).toMatchObject({
        providerState: { kind: 'anthropic', wire: 'messages', model: 'test-model', items: blocks },
      });
      expect((await sent({ tools }, messages)).messages).toMatchObject([{}, { content: blocks }, {}]);
      const foreign = messages.map((message) =>
        'providerState' in message
          ? { ...message, providerState: { ...(message.providerState as object), kind: 'openai' } }
          : message,
      );
      expect((await sent({ tools }, foreign)).messages).toMatchObject([{}, { content: blocks.slice(2) }, {}]);
    });
  });

  it.each([
    ['claude-sonnet-5-5', 'auto', false, {}],
    ['claude-sonnet-5-5', 'auto', true, { thinking: { type: 'adaptive', display: 'summarized' } }],
    ['claude-sonnet-5-5', 'none', true, { thinking: { type: 'between_tools' } }],
    ['claude-opus-4-8', 'auto', true, {}],
    ['claude-haiku-5-5', 'none', false, { thinking: { type: 'disabled' } }],
    [
      'claude-opus-5-5',
      'minimal',
      false,
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    ],
    [
      'another-model',
      'high',
      true,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
    ],
  ] as const)('%s is asked to think %s (shown: %s)', async (model, reasoning, showReasoning, told) => {
    const { thinking, output_config } = await sent({ model, reasoning, showReasoning });
    expect({ ...(thinking ? { thinking } : {}), ...(output_config ? { output_config } : {}) }).toEqual(told);
  });

  it('sampling, the choice of a tool and the format of the answer have their fields', async () => {
    const schema = { type: 'object', properties: { a: { type: 'null' } }, additionalProperties: false };
    const sampling = { temperature: 0.5, topP: 0.9, stop: ['END'], toolChoice: { name: 'f' } };
    expect(await sent({ tools, sampling, responseFormat: { name: 'x', schema } })).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END'],
      tool_choice: { type: 'tool', name: 'f' },
      output_config: { format: { type: 'json_schema', schema } },
    });
    const choice = async (toolChoice: 'auto' | 'none' | 'required') =>
      (await sent({ tools, sampling: { toolChoice } })).tool_choice;
    expect([await choice('auto'), await choice('none'), await choice('required')]).toEqual([
      undefined,
      { type: 'none' },
      { type: 'any' },
    ]);
  });

  it('the limit of one tool call at a time is part of the choice of a tool', async () => {
    const single = async (toolChoice?: 'none' | 'required') =>
      (await sent({ tools, sampling: { ...(toolChoice && { toolChoice }), parallelToolCalls: false } }))
        .tool_choice;
    expect([await single(), await single('none'), await single('required')]).toEqual([
      { type: 'auto', disable_parallel_tool_use: true },
      { type: 'none' },
      { type: 'any', disable_parallel_tool_use: true },
    ]);
  });

  it('pictures that a tool returns are part of its result', async () => {
    const parts = [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] as const;
    const body = await sent({ tools }, [
      userMessage('go'),
      { role: 'assistant', text: '', toolCalls: [{ id: 'a', name: 'f', arguments: {} }] },
      { role: 'tool', results: [{ callId: 'a', content: '', parts, isError: false }] },
    ]);
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    expect(body.messages).toMatchObject([
      {},
      {},
      { content: [{ type: 'tool_result', content: [{ type: 'image', source }] }] },
    ]);
  });

  it('pictures of a failed call follow all results: the wire accepts only text in an error', async () => {
    const parts = [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] as const;
    const calls = ['a', 'b', 'c'].map((id) => ({ id, name: 'f', arguments: {} }));
    const body = await sent({ tools }, [
      userMessage('go'),
      { role: 'assistant', text: '', toolCalls: calls },
      {
        role: 'tool',
        results: [
          { callId: 'a', content: '', parts, isError: true },
          { callId: 'b', content: 'fine', isError: false },
          { callId: 'c', content: '', isError: true },
        ],
      },
    ]);
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    expect((body.messages as object[]).at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: '(shown below)', is_error: true },
        { type: 'tool_result', tool_use_id: 'b', content: 'fine' },
        { type: 'tool_result', tool_use_id: 'c', content: '(no content)', is_error: true },
        { type: 'text', text: 'The call a returned:' },
        { type: 'image', source, ...mark },
      ],
    });
  });

  it('each call reads from the cache everything that the call before wrote, although the end changes', async () => {
    const billing = new PrefixBilling(0);
    const long = 'x'.repeat(4000);
    const messages: ModelMessage[] = [userMessage(long)];
    const written: number[] = [];
    for (let round = 1; round <= 4; round += 1) {
      const trailing = `It is ${round} o’clock.`;
      const {
        read,
        written: now,
        plain,
      } = billing.bill(await sent({ tools, system: long, trailing }, messages));
      expect(read).toBe(written.reduce((sum, one) => sum + one, 0));
      expect(plain).toBeLessThan(20);
      written.push(now);
      // More blocks at once than the provider looks back.
      const toolCalls = Array.from({ length: 12 }, (_, index) => ({
        id: `${round}_${index}`,
        name: 'f',
        arguments: {},
      }));
      const results = toolCalls.map(({ id }) => ({ callId: id, content: long, isError: false }));
      messages.push({ role: 'assistant', text: '', toolCalls }, { role: 'tool', results });
    }
  });

  it('a stored history with calls names their tools even when none is offered', async () => {
    const body = await sent({ tools: [] }, [
      userMessage('go'),
      { role: 'assistant', text: '', toolCalls: [{ id: 'a', name: 'g', arguments: {} }] },
      { role: 'tool', results: [{ callId: 'a', content: 'A', isError: false }] },
    ]);
    expect(body).toMatchObject({
      tools: [{ name: 'g', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
    });
  });

  it('send the key in both headers to a compatible server', async () => {
    await sent();
    expect(server.requests[0]).toMatchObject({
      path: '/v1/messages',
      headers: { authorization: 'Bearer k', 'x-api-key': 'k' },
    });
    expect(server.requests[0]?.headers).toHaveProperty('anthropic-version');
  });
});
