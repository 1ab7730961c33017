import { LLMock } from '@copilotkit/aimock';
import {
  callOptions,
  callsOf,
  collect,
  endOf,
  modelRequest,
  rejection,
  textOf,
  userMessage,
} from '../../../../test/harness/model-call.js';
import { ProviderFailed, ProviderTimedOut } from '../../../common/errors/gateway-error.js';
import type { ModelProvider } from '../model-provider.port.js';
import { createProvider } from './create-provider.js';

const tools = [{ name: 'weather', description: 'Tells the weather.', inputSchema: { type: 'object' } }];
const allWires = [
  { kind: 'openai', wire: 'chat', suffix: '/v1' },
  { kind: 'openai', wire: 'responses', suffix: '/v1' },
  { kind: 'anthropic', wire: undefined, suffix: '' },
] as const;

describe.each(allWires)('the $kind wire ($wire) against an independent fake', ({ kind, wire, suffix }) => {
  let fake: LLMock;
  let provider: ModelProvider;

  beforeAll(async () => {
    fake = new LLMock({ port: 0 });
    await fake.start();
    const choice = {
      kind,
      ...(wire === undefined ? {} : { wire }),
      apiKey: 'key-1234',
      baseUrl: `${fake.url}${suffix}`,
      model: 'a-model',
      why: 'test',
    };
    provider = await createProvider(choice, { baseDelayMs: 5 });
  });
  beforeEach(() => {
    fake.reset();
  });
  afterAll(() => fake.stop());

  const ask = (text: string, options = {}) =>
    provider.stream(modelRequest([userMessage(text)], { tools }), callOptions(options));

  it('returns the text, the usage and the model of an answer', async () => {
    fake.onMessage('hello', {
      content: 'Good morning to you.',
      model: 'a-model-2',
      usage: { prompt_tokens: 11, completion_tokens: 7 },
    });
    const events = await collect(ask('hello'));
    expect(textOf(events)).toBe('Good morning to you.');
    expect(endOf(events)).toMatchObject({
      finishReason: 'stop',
      usage: { input: 11, output: 7 },
      model: 'a-model-2',
    });
  });

  it('returns tokens while the answer is still being written', async () => {
    fake.onMessage('slowly', { content: 'abcdefghij' }, { chunkSize: 1, streamingProfile: { tps: 50 } });
    const arrivals: number[] = [];
    for await (const event of ask('slowly')) if (event.type === 'token') arrivals.push(performance.now());
    expect(arrivals).toHaveLength(10);
    expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(100);
  });

  it('returns parallel tool calls complete, with their arguments', async () => {
    fake.onMessage('both', {
      content: 'Looking.',
      toolCalls: [
        { id: 'call_a', name: 'weather', arguments: '{"city":"Bern"}' },
        { id: 'call_b', name: 'weather', arguments: '{"city":"Basel"}' },
      ],
    });
    const events = await collect(ask('both'));
    expect(callsOf(events)).toEqual([
      { id: 'call_a', name: 'weather', arguments: { city: 'Bern' } },
      { id: 'call_b', name: 'weather', arguments: { city: 'Basel' } },
    ]);
    expect(endOf(events).finishReason).toBe('tool_calls');
  });

  it('sends the results of tools, and returns the answer to them', async () => {
    fake.onToolResult('call_a', { content: 'It snows in Bern.' });
    const call = { id: 'call_a', name: 'weather', arguments: { city: 'Bern' } };
    const events = await collect(
      provider.stream(
        modelRequest(
          [
            userMessage('weather?'),
            { role: 'assistant', text: '', toolCalls: [call] },
            { role: 'tool', results: [{ callId: 'call_a', content: 'snow', isError: false }] },
          ],
          { tools },
        ),
        callOptions(),
      ),
    );
    expect(textOf(events)).toBe('It snows in Bern.');
  });

  it('reports an answer that was cut at its maximum length', async () => {
    fake.onMessage('long', { content: 'And then', finishReason: 'length' });
    expect(endOf(await collect(ask('long'))).finishReason).toBe('length');
  });

  it('waits as long as Retry-After says and then succeeds', async () => {
    fake.on(
      { userMessage: 'busy', sequenceIndex: 0 },
      { error: { message: 'busy' }, status: 429, retryAfter: 1 },
    );
    fake.onMessage('busy', { content: 'Here I am.' });
    const began = performance.now();
    expect(textOf(await collect(ask('busy')))).toBe('Here I am.');
    expect(performance.now() - began).toBeGreaterThan(990);
    expect(fake.getRequests()).toHaveLength(2);
  });

  it('gives up at once when the provider asks for a longer wait than allowed', async () => {
    fake.onMessage('later', { error: { message: 'busy' }, status: 429, retryAfter: 120 });
    const error = await rejection(collect(ask('later')));
    expect(error).toBeInstanceOf(ProviderFailed);
    expect(error).toMatchObject({ details: { reason: 'provider_rate_limited' }, retryAfterSecs: 120 });
    expect(fake.getRequests()).toHaveLength(1);
  });

  it('tries three times when the provider keeps failing', async () => {
    fake.onMessage('broken', { error: { message: 'Out of order.' }, status: 500 });
    const error = await rejection(collect(ask('broken')));
    expect(error).toMatchObject({
      status: 502,
      details: { reason: 'provider_error' },
      message: `The model provider ${kind} failed (500): Out of order.`,
    });
    expect(fake.getRequests()).toHaveLength(3);
  });

  it.each([
    [400, 'provider_rejected_request'],
    [401, 'provider_refused_credentials'],
    [403, 'provider_refused_credentials'],
    [404, 'provider_unknown_model'],
    [422, 'provider_rejected_request'],
  ])('does not repeat a request that was answered with %i', async (status, reason) => {
    fake.onMessage('no', { error: { message: 'No.' }, status });
    const error = await rejection(collect(ask('no')));
    expect(error).toMatchObject({ status: 502, details: { reason } });
    expect(fake.getRequests()).toHaveLength(1);
  });

  it('fails when the stream is cut after text, without asking again', async () => {
    // The fake leaves a listener behind with each chunk, and Node warns of the eleventh.
    fake.onMessage(
      'cut',
      { content: 'abcdefghij' },
      { chunkSize: 1, truncateAfterChunks: wire === 'responses' ? 10 : 8, streamingProfile: { tps: 100 } },
    );
    const seen: string[] = [];
    const error = await rejection(
      (async () => {
        for await (const event of ask('cut')) if (event.type === 'token') seen.push(event.text);
      })(),
    );
    expect(seen.join('')).toMatch(/^ab.*[^j]$/);
    expect(error).toMatchObject({ status: 502, details: { reason: 'provider_stream_cut' } });
    expect(fake.getRequests()).toHaveLength(1);
  });

  it('times out when no answer starts', async () => {
    fake.onMessage('hang', { content: 'late' }, { chaos: { latencyMs: 400 } });
    const error = await rejection(collect(ask('hang', { firstByteTimeoutMs: 100 })));
    expect(error).toBeInstanceOf(ProviderTimedOut);
    expect(error).toMatchObject({ status: 504, details: { reason: 'provider_first_byte_timeout' } });
    expect(fake.getRequests().length).toBeLessThanOrEqual(1);
  });

  it('times out when an answer stops', async () => {
    fake.onMessage('stall', { content: 'ab' }, { chunkSize: 1, streamingProfile: { tps: 5, ttft: 10 } });
    const error = await rejection(collect(ask('stall', { idleTimeoutMs: 80 })));
    expect(error).toMatchObject({ status: 504, details: { reason: 'provider_idle_timeout' } });
  });

  it('ends with the reason of an abort in the middle of an answer', async () => {
    fake.onMessage('stop', { content: 'abcdefghij' }, { chunkSize: 1, streamingProfile: { tps: 20 } });
    const abort = new AbortController();
    const reason = new Error('the caller thought better of it');
    let tokens = 0;
    const error = await rejection(
      (async () => {
        for await (const event of ask('stop', { signal: abort.signal })) {
          if (event.type === 'token') tokens += 1;
          setTimeout(() => abort.abort(reason), 20);
        }
      })(),
    );
    expect(error).toBe(reason);
    expect(tokens).toBeLessThan(10);
  });
});

it('makes an invalid argument a problem of the call, not of the answer', async () => {
  const fake = new LLMock({ port: 0 });
  await fake.start();
  fake.onMessage('odd', { toolCalls: [{ id: 'c1', name: 'weather', arguments: '{"city":' }] });
  const provider = await createProvider({
    kind: 'openai',
    apiKey: 'k',
    baseUrl: `${fake.url}/v1`,
    model: 'm',
    why: 'test',
  });
  const events = await collect(provider.stream(modelRequest([userMessage('odd')], { tools }), callOptions()));
  await fake.stop();
  expect(callsOf(events)).toEqual([
    { id: 'c1', name: 'weather', arguments: {}, problem: 'The arguments are not valid JSON.' },
  ]);
  expect(endOf(events).finishReason).toBe('tool_calls');
});
