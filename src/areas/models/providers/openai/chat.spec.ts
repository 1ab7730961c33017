import {
  callOptions,
  callsOf,
  collect,
  endOf,
  modelRequest,
  textOf,
  userMessage,
} from '../../../../../test/harness/model-call.js';
import {
  beginStream,
  type ScriptedProvider,
  startScriptedProvider,
} from '../../../../../test/harness/scripted-provider.js';
import type { ModelEvent, ModelMessage, ModelProvider, ModelRequest } from '../../model-provider.port.js';
import { createProvider } from '../create-provider.js';
import { chatRequest } from './chat-request.js';

let server: ScriptedProvider;
let provider: ModelProvider;

beforeAll(async () => {
  server = await startScriptedProvider();
  const baseUrl = `${server.url}/v1`;
  provider = await createProvider({ kind: 'openai', apiKey: 'k', baseUrl, model: 'fallback', why: 'test' });
});
afterAll(() => server.stop());

const delta = (fields: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const toolDelta = (call: object) => delta({ tool_calls: [call] });

function answer(...events: (object | string)[]): void {
  server.script((response) => {
    beginStream(response, ...events);
    response.end();
  });
}

function ask(more: Partial<ModelRequest> = {}, messages = [userMessage('hello')]): Promise<ModelEvent[]> {
  return collect(provider.stream(modelRequest(messages, more), callOptions()));
}

describe('answers on OpenAI’s wire', () => {
  it('tool calls whose deltas are interleaved are put together one by one', async () => {
    answer(
      toolDelta({ index: 0, id: 'a', function: { name: 'first', arguments: '' } }),
      toolDelta({ index: 1, id: 'b', function: { name: 'second', arguments: '{"n"' } }),
      toolDelta({ index: 0, function: { arguments: '{"m":' } }),
      toolDelta({ index: 1, function: { arguments: ':2}' } }),
      toolDelta({ index: 0, function: { arguments: '1}' } }),
      delta({}, 'tool_calls'),
    );
    const events = await ask();
    expect(callsOf(events)).toEqual([
      { id: 'a', name: 'first', arguments: { m: 1 } },
      { id: 'b', name: 'second', arguments: { n: 2 } },
    ]);
    expect(endOf(events).finishReason).toBe('tool_calls');
  });

  it('calls that a compatible server gives the same index, or none, are told apart by their ids', async () => {
    answer(
      toolDelta({ id: 'a', function: { name: 'first', arguments: '{}' } }),
      toolDelta({ index: 0, id: 'b', function: { name: 'second', arguments: '{}' } }),
      delta({}, 'stop'),
    );
    const events = await ask();
    expect(callsOf(events).map((call) => call.name)).toEqual(['first', 'second']);
    expect(endOf(events).finishReason).toBe('tool_calls');
  });

  it('a call without an id gets one, and a call without arguments has none', async () => {
    answer(toolDelta({ index: 0, function: { name: 'first' } }), delta({}, 'tool_calls'));
    const [call] = callsOf(await ask());
    expect(call).toEqual({ id: expect.stringMatching(/^call_./) as unknown, name: 'first', arguments: {} });
  });

  it.each(['[1]', '"text"', 'null', '{"a":'])(
    'arguments such as %s are a problem of the call',
    async (text) => {
      answer(
        toolDelta({ index: 0, id: 'a', function: { name: 'f', arguments: text } }),
        delta({}, 'tool_calls'),
      );
      const [call] = callsOf(await ask());
      expect(call).toMatchObject({ arguments: {}, problem: expect.stringMatching(/JSON/) as unknown });
    },
  );

  it('an answer without usage counts as zero', async () => {
    answer(delta({ content: 'hi' }), delta({}, 'stop'));
    expect(endOf(await ask()).usage).toEqual({ input: 0, output: 0 });
  });

  it('an answer that ends with its mark but gives no reason is complete', async () => {
    answer(delta({ content: 'hi' }), 'data: [DONE]\n\n');
    const events = await ask({ model: '' });
    expect(textOf(events)).toBe('hi');
    expect(endOf(events)).toMatchObject({ finishReason: 'stop', model: 'fallback' });
  });

  it('a mark without its blank line counts', async () => {
    answer(delta({ content: 'hi' }), 'data: [DONE]');
    expect(endOf(await ask()).finishReason).toBe('stop');
  });

  it('cached and reasoning tokens are told apart', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 80 },
      completion_tokens_details: { reasoning_tokens: 40 },
    };
    answer(delta({ content: 'hi' }), delta({}, 'stop'), { choices: [], usage });
    expect(endOf(await ask()).usage).toEqual({ input: 100, output: 50, cachedInput: 80, reasoning: 40 });
  });

  it.each([
    ['reasoning_content', { reasoning_content: 'Let me see.' }],
    ['reasoning', { reasoning: 'Let me see.' }],
    ['reasoning_details', { reasoning: 'Let me see.', reasoning_details: [{ type: 'x', data: 'opaque' }] }],
  ])('%s is shown, and is sent back with the calls it led to, to the same model', async (_, fields) => {
    const signature = { google: { thought_signature: 's' } };
    answer(
      delta(fields),
      toolDelta({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' }, extra_content: signature }),
      delta({}, 'tool_calls'),
    );
    const events = await ask();
    expect(events[0]).toEqual({ type: 'reasoning', text: 'Let me see.' });
    const { providerState } = JSON.parse(JSON.stringify(endOf(events))) as { providerState: unknown };
    const messages: ModelMessage[] = [
      userMessage('hello'),
      { role: 'assistant', text: '', toolCalls: callsOf(events), providerState },
      { role: 'tool', results: [{ callId: 'a', content: 'A', isError: false }] },
    ];
    answer(delta({}, 'stop'));
    await ask({}, messages);
    const call = { id: 'a', extra_content: signature };
    expect(server.requests[0]?.body.messages).toMatchObject([{}, {}, { ...fields, tool_calls: [call] }, {}]);
    await ask({ model: 'other' }, messages);
    const others = server.requests[1]?.body.messages as object[];
    expect(Object.keys(others[2] ?? {})).toEqual(['role', 'content', 'tool_calls']);
  });

  it.each([
    ['length', 'length'],
    ['model_length', 'length'],
    ['max_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['stop', 'stop'],
    ['something_new', 'stop'],
  ])('the reason %s means %s', async (reason, stop) => {
    answer(delta({ content: 'x' }), delta({}, reason));
    expect(endOf(await ask()).finishReason).toBe(stop);
  });

  it('a lone surrogate in what is sent back is repaired', async () => {
    const lone = String.fromCharCode(0xd83d);
    const call = { index: 0, id: 'x', function: { name: 'f', arguments: '{}' } };
    answer(
      {
        choices: [
          { delta: { reasoning_content: `a${lone}\0`, tool_calls: [call] }, finish_reason: 'tool_calls' },
        ],
      },
      'data: [DONE]\n\n',
    );
    expect(endOf(await ask()).providerState).toMatchObject({ items: [{ reasoning_content: 'a\ufffd' }] });
  });

  it('a refusal is passed on as text and marked as a refusal', async () => {
    answer(delta({ refusal: 'I will not.' }), delta({}, 'stop'));
    const events = await ask();
    expect(textOf(events)).toBe('I will not.');
    expect(endOf(events).finishReason).toBe('refusal');
  });
});

describe('requests on OpenAI’s wire', () => {
  const sent = async (more: Partial<ModelRequest> = {}, messages = [userMessage('hello')]) => {
    answer(delta({}, 'stop'));
    await ask(more, messages);
    return server.requests[0]?.body ?? {};
  };

  it('have the model, the limit, the system prompt and the request for usage', async () => {
    expect(await sent()).toEqual({
      model: 'test-model',
      max_tokens: 512,
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
    });
  });

  it('answer every call with a message of its own, in the order of the calls, interrupted ones included', async () => {
    const call = (id: string) => ({ id, name: 'f', arguments: { id } });
    const body = await sent({ system: '' }, [
      userMessage('go'),
      { role: 'assistant', text: 'Going.', toolCalls: [call('a'), call('b'), call('c')] },
      {
        role: 'tool',
        results: [
          { callId: 'c', content: 'C', isError: false },
          { callId: 'stranger', content: 'X', isError: false },
          { callId: 'a', content: 'A', isError: true },
        ],
      },
      userMessage('and?'),
    ]);
    expect(body.messages).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'Going.',
        tool_calls: ['a', 'b', 'c'].map((id) => ({
          id,
          type: 'function',
          function: { name: 'f', arguments: JSON.stringify({ id }) },
        })),
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: 'No result: the call was interrupted.' },
      { role: 'tool', tool_call_id: 'c', content: 'C' },
      { role: 'user', content: 'and?' },
    ]);
  });

  it('send attachments as images and files where the wire supports them, otherwise as words', async () => {
    const data = Buffer.from('héllo').toString('base64');
    const body = await sent({ system: '' }, [
      userMessage(
        'see',
        { type: 'image', mimeType: 'image/PNG', data },
        { type: 'image', mimeType: 'image/tiff', data },
        { type: 'file', name: 'a.pdf', mimeType: 'application/pdf', data },
        { type: 'file', name: 'a.txt', mimeType: 'text/plain; charset=utf-8', data },
        { type: 'file', name: 'a\n.zip', mimeType: 'application/zip', data },
      ),
    ]);
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
          { type: 'text', text: '[attachment image (image/tiff, 6 bytes) cannot be shown to this model]' },
          { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` } },
          { type: 'text', text: '[attachment a.txt (text/plain)]\nhéllo' },
          {
            type: 'text',
            text: '[attachment a .zip (application/zip, 6 bytes) cannot be shown to this model]',
          },
        ],
      },
    ]);
  });

  it('send tools as functions, which never change how the model reasons', async () => {
    const parameters = { type: 'object', properties: {} };
    const tools = [{ name: 'f', description: 'Does f.', inputSchema: parameters }];
    const functions = [{ type: 'function', function: { name: 'f', description: 'Does f.', parameters } }];
    for (const model of ['gpt-4.1', 'gpt-5.6-terra', 'llama']) {
      const body = await sent({ tools, model });
      expect(body).toMatchObject({ tools: functions });
      expect(body).not.toHaveProperty('reasoning_effort');
    }
    expect(await sent({ tools, reasoning: 'low' })).toMatchObject({ reasoning_effort: 'low' });
    expect(await sent({ reasoning: 'none', model: 'gpt-5.6' })).toMatchObject({ reasoning_effort: 'none' });
    expect(await sent({ reasoning: 'none', model: 'gpt-4.1' })).not.toHaveProperty('reasoning_effort');
  });

  it('have fields for sampling, the choice of a tool and the format of the answer', async () => {
    const tools = [{ name: 'f', description: 'Does f.', inputSchema: { type: 'object' } }];
    const sampling = { temperature: 0.5, topP: 0.9, stop: ['END'], toolChoice: { name: 'f' } };
    const responseFormat = { name: 'x', schema: { type: 'object' }, strict: true };
    expect(await sent({ tools, sampling, responseFormat })).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      stop: ['END'],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: responseFormat },
    });
    const single = { toolChoice: 'required', parallelToolCalls: false } as const;
    expect(await sent({ tools, sampling: single })).toMatchObject({
      tool_choice: 'required',
      parallel_tool_calls: false,
    });
    expect(await sent({ tools: [], sampling: single })).not.toHaveProperty('parallel_tool_calls');
  });

  it('end with what applies to this call only, so that everything before it starts the next one', async () => {
    const said = [userMessage('hello')];
    await sent({ trailing: 'It is one o’clock.' }, said);
    const first = server.requests[0]?.text ?? '';
    const asked = {
      role: 'assistant',
      text: '',
      toolCalls: [{ id: 'a', name: 'f', arguments: {} }],
    } as const;
    const answered = { role: 'tool', results: [{ callId: 'a', content: 'A', isError: false }] } as const;
    const body = await sent({ trailing: 'It is two o’clock.' }, [...said, asked, answered]);
    const shared = first.slice(0, first.indexOf('\\n\\nIt is one'));
    expect(shared).toContain('hello');
    expect(server.requests[0]?.text.startsWith(shared)).toBe(true);
    expect(body.messages).toMatchObject([{}, {}, {}, { content: 'A\n\nIt is two o’clock.' }]);
  });

  it('show what tools return besides text after all their answers', async () => {
    const call = (id: string) => ({ id, name: 'f', arguments: {} });
    const parts = [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] as const;
    const body = await sent({ system: '' }, [
      userMessage('go'),
      { role: 'assistant', text: '', toolCalls: [call('a'), call('b')] },
      {
        role: 'tool',
        results: [
          { callId: 'a', content: '', parts, isError: false },
          { callId: 'b', content: 'B', isError: false },
        ],
      },
    ]);
    expect(body.messages).toMatchObject([
      {},
      {},
      { role: 'tool', tool_call_id: 'a', content: '(shown below)' },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The call a returned:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ]);
  });

  it('send audio to models that can hear', async () => {
    const sound = { type: 'file', name: 'a.mp3', mimeType: 'audio/mpeg', data: 'AAAA' } as const;
    const contentFor = async (model: string) =>
      (await sent({ model, system: '' }, [userMessage('', sound)])).messages;
    expect(await contentFor('gpt-audio')).toMatchObject([
      { content: [{}, { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }] },
    ]);
    expect(await contentFor('gpt-4.1')).toMatchObject([
      { content: expect.stringContaining('cannot be shown') as unknown },
    ]);
  });

  it.each([
    ['https://api.openai.com/v1', 'max_completion_tokens', 'sess_1'],
    ['https://mine.openai.azure.com/openai/v1', 'max_completion_tokens', 'sess_1'],
    ['http://127.0.0.1:11434/v1', 'max_tokens', undefined],
    ['https://api.openai.com.example.org/v1', 'max_tokens', undefined],
  ])(
    'tell %s the limit of an answer as %s, and whose cache it is only when it supports that',
    (baseUrl, name, key) => {
      const params = chatRequest(
        modelRequest([userMessage('x')], { conversationId: 'sess_1' }),
        'm',
        baseUrl,
      );
      expect(Object.keys(params).filter((field) => field.startsWith('max_'))).toEqual([name]);
      expect(params.prompt_cache_key).toBe(key);
    },
  );

  it('send the key as a bearer token', async () => {
    await sent();
    expect(server.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer k' },
    });
  });
});
