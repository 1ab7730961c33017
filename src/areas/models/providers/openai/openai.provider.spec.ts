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
import type { ModelEvent, ModelProvider, ModelRequest } from '../../model-provider.port.js';
import { createProvider } from '../create-provider.js';

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

describe('what OpenAI’s wire answers', () => {
  it('calls of tools whose deltas come interleaved are put together one by one', async () => {
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

  it('calls that a compatible server numbers alike, or not at all, are told apart by their ids', async () => {
    answer(
      toolDelta({ id: 'a', function: { name: 'first', arguments: '{}' } }),
      toolDelta({ index: 0, id: 'b', function: { name: 'second', arguments: '{}' } }),
      delta({}, 'stop'),
    );
    const events = await ask();
    expect(callsOf(events).map((call) => call.name)).toEqual(['first', 'second']);
    expect(endOf(events).finishReason).toBe('tool_calls');
  });

  it('a call without an id is given one, and one without arguments has none', async () => {
    answer(toolDelta({ index: 0, function: { name: 'first' } }), delta({}, 'tool_calls'));
    const [call] = callsOf(await ask());
    expect(call).toEqual({ id: expect.stringMatching(/^call_./) as unknown, name: 'first', arguments: {} });
  });

  it.each(['[1]', '"text"', 'null', '{"a":'])('arguments like %s are a problem of the call', async (text) => {
    answer(
      toolDelta({ index: 0, id: 'a', function: { name: 'f', arguments: text } }),
      delta({}, 'tool_calls'),
    );
    const [call] = callsOf(await ask());
    expect(call).toMatchObject({ arguments: {}, problem: expect.stringMatching(/JSON/) as unknown });
  });

  it('an answer without usage counts as zero', async () => {
    answer(delta({ content: 'hi' }), delta({}, 'stop'));
    expect(endOf(await ask()).usage).toEqual({ input: 0, output: 0 });
  });

  it('an answer that gives no reason but its mark is complete', async () => {
    answer(delta({ content: 'hi' }), 'data: [DONE]\n\n');
    const events = await ask({ model: '' });
    expect(textOf(events)).toBe('hi');
    expect(endOf(events)).toMatchObject({ finishReason: 'stop', model: 'fallback' });
  });

  it('a mark that lacks its blank line is one', async () => {
    answer(delta({ content: 'hi' }), 'data: [DONE]');
    expect(endOf(await ask()).finishReason).toBe('stop');
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

  it('a refusal is read aloud and said to be one', async () => {
    answer(delta({ refusal: 'I will not.' }), delta({}, 'stop'));
    const events = await ask();
    expect(textOf(events)).toBe('I will not.');
    expect(endOf(events).finishReason).toBe('refusal');
  });
});

describe('what OpenAI’s wire is sent', () => {
  const sent = async (more: Partial<ModelRequest> = {}, messages = [userMessage('hello')]) => {
    answer(delta({}, 'stop'));
    await ask(more, messages);
    return server.requests[0]?.body ?? {};
  };

  it('is the model, the bound, the system prompt and the wish for usage', async () => {
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

  it('every call is answered by a message of its own, in the calls’ order, also one that was interrupted', async () => {
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

  it('attachments go as images and files where the wire has them, else as words', async () => {
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

  it('tools go as functions; the models that need it are told not to reason beside them', async () => {
    const tools = [{ name: 'f', description: 'Does f.', inputSchema: { type: 'object', properties: {} } }];
    const parameters = { type: 'object', properties: {} };
    const functions = [{ type: 'function', function: { name: 'f', description: 'Does f.', parameters } }];
    expect(await sent({ tools, model: 'gpt-4.1' })).not.toHaveProperty('reasoning_effort');
    expect(await sent({ tools, model: 'gpt-5.6-terra' })).toMatchObject({
      tools: functions,
      reasoning_effort: 'none',
    });
    expect(await sent({ model: 'gpt-5.6-terra' })).not.toHaveProperty('reasoning_effort');
  });

  it('carries the key as a bearer token', async () => {
    await sent();
    expect(server.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer k' },
    });
  });
});
