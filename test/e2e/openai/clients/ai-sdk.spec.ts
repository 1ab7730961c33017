import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateText, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { startTestGateway, type TestGateway } from '../../../harness/gateway.js';
import type { JudgingModel } from '../../../harness/judging-model.js';
import { startEchoModel } from '../../../harness/openai-face.js';
import { PIXEL } from './pixel.js';

let model: JudgingModel;
let gateway: TestGateway;
beforeAll(async () => {
  model = await startEchoModel();
  gateway = await startTestGateway({ env: model.env });
});
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
});

type Maker = (agent: string) => LanguageModel;
const settings = () => ({
  apiKey: gateway.token,
  baseURL: `http://127.0.0.1:${gateway.started.ports.a}/v1`,
});
const WAYS: readonly (readonly [string, Maker])[] = [
  ['@ai-sdk/openai, Responses', (agent) => createOpenAI(settings()).responses(agent)],
  ['@ai-sdk/openai, Chat Completions', (agent) => createOpenAI(settings()).chat(agent)],
  [
    '@ai-sdk/open-responses',
    (agent) => {
      const { apiKey, baseURL } = settings();
      return createOpenResponses({ name: 'gateway', apiKey, url: `${baseURL}/responses` })(agent);
    },
  ],
];

/** The error of a refused call. */
async function refusalOf(
  call: PromiseLike<unknown>,
): Promise<{ status: number | undefined; param: unknown }> {
  const thrown: unknown = await Promise.resolve(call).catch((error: unknown) => error);
  if (!APICallError.isInstance(thrown)) throw new Error('It was expected to be refused.', { cause: thrown });
  const { error } = JSON.parse(thrown.responseBody ?? '{}') as { error: { param: string | null } };
  return { status: thrown.statusCode, param: error.param };
}

const city = z.object({ city: z.string() });
const once = { maxRetries: 0 };

describe.each(WAYS)('ai with %s', (_name, made) => {
  test('generateText: the answer and what it used', async () => {
    const { text, usage, finishReason } = await generateText({
      ...{ ...once, model: made('default'), system: 'Be brief.', prompt: 'Hello', temperature: 0.5 },
    });
    expect([text, finishReason]).toEqual(['1 messages, the last: Hello', 'stop']);
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(model.requests.at(-1)!.system).toContain('Be brief.');
    expect(model.requests.at(-1)!.body['temperature']).toBe(0.5);
  });

  test('streamText: the answer piece by piece, and what it used', async () => {
    const stream = streamText({ ...once, model: made('default'), prompt: 'Hello' });
    let text = '';
    for await (const piece of stream.textStream) text += piece;
    expect(text).toBe('1 messages, the last: Hello');
    expect((await stream.usage).outputTokens).toBeGreaterThan(0);
  });

  test.each(['generateText', 'streamText'])('tools: it runs them, %s', async (how) => {
    const asked: string[] = [];
    const call = {
      ...{ ...once, model: made('default'), prompt: 'call weather', stopWhen: stepCountIs(3) },
      tools: {
        weather: tool({
          description: 'The weather of a city',
          inputSchema: city,
          execute: (given) => {
            asked.push(given.city);
            return { sky: 'rain' };
          },
        }),
      },
    };
    const text = how === 'generateText' ? (await generateText(call)).text : await streamText(call).text;
    expect(asked).toEqual(['Oslo']);
    expect(text).toContain('told {"sky":"rain"}');
  });

  test('Output.object: the answer is of the schema, whose name and description the model is told', async () => {
    const { output } = await generateText({
      ...{ ...once, model: made('default'), prompt: 'Where?' },
      output: Output.object({ schema: city, name: 'place', description: 'Where it is' }),
    });
    expect(output).toEqual({ city: 'Oslo' });
    expect(model.requests.at(-1)!.body['response_format']).toMatchObject({
      json_schema: { name: 'place', description: 'Where it is' },
    });
  });

  test('a picture reaches the model', async () => {
    await generateText({
      ...{ ...once, model: made('default') },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image', image: Buffer.from(PIXEL, 'base64'), mediaType: 'image/png' },
          ],
        },
      ],
    });
    expect(model.requests.at(-1)!.messages.at(-1)!.media).toEqual(['image_url']);
  });

  test('the conversation goes on with what was answered', async () => {
    const opening = { role: 'user' as const, content: 'One' };
    const first = await generateText({ ...once, model: made('default'), messages: [opening] });
    const { text } = await generateText({
      ...{ ...once, model: made('default') },
      messages: [opening, ...first.response.messages, { role: 'user', content: 'Two' }],
    });
    expect(text).toBe('3 messages, the last: Two');
    expect(model.requests.at(-1)!.messages[1]!.text).toBe('1 messages, the last: One');
  });

  test('errors: an agent that is not there, a turn that fails', async () => {
    const nobody = generateText({ ...once, model: made('nobody'), prompt: 'Hello' });
    expect(await refusalOf(nobody)).toEqual({ status: 404, param: 'model' });
    const failed = generateText({ ...once, model: made('default'), prompt: 'break' });
    expect(await refusalOf(failed)).toMatchObject({ status: 502 });
  });
});

test('@ai-sdk/openai: previousResponseId goes on with a response', async () => {
  const agent = createOpenAI(settings()).responses('default');
  const first = await generateText({ ...once, model: agent, prompt: 'One' });
  const previousResponseId = first.providerMetadata!['openai']!['responseId'] as string;
  const { text } = await generateText({
    ...{ ...once, model: agent, prompt: 'Two', providerOptions: { openai: { previousResponseId } } },
  });
  expect(text).toBe('3 messages, the last: Two');
});

test.each<[string, Record<string, boolean | string>]>([
  ['one call of a tool at a time', { parallelToolCalls: false }],
  ['hints', { promptCacheKey: 'ada-7', safetyIdentifier: 'hash', textVerbosity: 'medium', user: 'ada' }],
  ['nothing kept', { store: false, truncation: 'auto', include: '' }],
])('@ai-sdk/openai: options that are followed: %s', async (_what, { include, ...options }) => {
  const openai = { ...options, ...(include !== undefined && { include: ['reasoning.encrypted_content'] }) };
  const tools = { weather: tool({ description: 'x', inputSchema: city, execute: () => 'rain' }) };
  const asked = { ...once, prompt: 'Hello', tools, providerOptions: { openai } };
  const { text } = await generateText({ ...asked, model: createOpenAI(settings()).responses('default') });
  expect(text).toBe('1 messages, the last: Hello');
  expect(model.requests.at(-1)!.body['parallel_tool_calls']).toBe(options['parallelToolCalls']);
});

test.each<[string, Record<string, boolean | number | string>]>([
  ['max_tool_calls', { maxToolCalls: 3 }],
  ['conversation', { conversation: 'conv_1' }],
  ['truncation', { truncation: 'disabled' }],
  ['text.verbosity', { textVerbosity: 'low' }],
])('@ai-sdk/openai: what is not supported is refused by name: %s', async (param, openai) => {
  const agent = createOpenAI(settings()).responses('default');
  const asked = generateText({ ...once, model: agent, prompt: 'Hello', providerOptions: { openai } });
  expect(await refusalOf(asked)).toEqual({ status: 400, param });
});
