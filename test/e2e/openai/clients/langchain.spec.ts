import { AIMessage, type BaseMessage, HumanMessage, SystemMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { z } from 'zod';
import { startTestGateway, type TestGateway } from '../../../harness/gateway.js';
import type { JudgingModel } from '../../../harness/judging-model.js';
import { refusalOf, startEchoModel } from '../../../harness/openai-face.js';
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

const city = z.object({ city: z.string() }).describe('Where it is');
const weather = tool(() => 'rain', {
  name: 'weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
});

describe.each([
  ['Chat Completions', false],
  ['Responses', true],
])('@langchain/openai over %s', (_name, useResponsesApi) => {
  const chat = (more: ChatOpenAIFields = {}) =>
    new ChatOpenAI({
      ...{ model: 'default', apiKey: gateway.token, maxRetries: 0, useResponsesApi },
      configuration: { baseURL: `http://127.0.0.1:${gateway.started.ports.b}/v1` },
      ...more,
    });

  test('invoke: the answer and what it used', async () => {
    const { text, usage_metadata } = await chat({ temperature: 0.5 }).invoke([
      new SystemMessage('Be brief.'),
      new HumanMessage('Hello'),
    ]);
    expect(text).toBe('1 messages, the last: Hello');
    expect((usage_metadata as { output_tokens: number } | undefined)!.output_tokens).toBeGreaterThan(0);
    expect(model.requests.at(-1)!.system).toContain('Be brief.');
    expect(model.requests.at(-1)!.body['temperature']).toBe(0.5);
  });

  test('stream: the answer piece by piece', async () => {
    let text = '';
    for await (const piece of await chat().stream('Hello')) text += piece.text;
    expect(text).toBe('1 messages, the last: Hello');
  });

  test('bindTools: its caller runs them, and the answer goes on with their outputs, which name their tool', async () => {
    const bound = chat().bindTools([weather], { parallel_tool_calls: false });
    const messages: BaseMessage[] = [new HumanMessage('call weather')];
    const asked = await bound.invoke(messages);
    expect(asked.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Oslo' } }]);
    expect(model.requests.at(-1)!.body['parallel_tool_calls']).toBe(false);
    const outputs = await Promise.all(
      asked.tool_calls!.map((call) => weather.invoke({ ...call, type: 'tool_call' })),
    );
    expect(outputs[0]!.name).toBe('weather');
    expect((await bound.invoke([...messages, asked, ...outputs])).text).toContain('told rain');
  });

  test.each([
    ['jsonSchema', 'Where?'],
    ['functionCalling', 'call place'],
    ['jsonMode', 'Where?'],
  ] as const)('withStructuredOutput by %s', async (method, asked) => {
    const structured = chat().withStructuredOutput(city, { name: 'place', method });
    expect(await structured.invoke(asked)).toEqual({ city: 'Oslo' });
  });

  test('a picture reaches the model', async () => {
    const url = `data:image/png;base64,${PIXEL}`;
    const content = [
      { type: 'text' as const, text: 'Look' },
      { type: 'image_url' as const, image_url: { url } },
    ];
    await chat().invoke([new HumanMessage({ content })]);
    expect(model.requests.at(-1)!.messages.at(-1)!.media).toEqual(['image_url']);
  });

  test('the conversation goes on with what was answered', async () => {
    const first = await chat().invoke('One');
    const messages = [new HumanMessage('One'), first, new HumanMessage('Two')];
    expect((await chat().invoke(messages)).text).toBe('3 messages, the last: Two');
    const retold = [new HumanMessage('One'), new AIMessage('Uno'), new HumanMessage('Two')];
    expect((await chat().invoke(retold)).text).toBe('3 messages, the last: Two');
  });

  test('errors: an agent that is not there, a turn that fails', async () => {
    const nobody = chat({ model: 'nobody' }).invoke('Hello');
    expect(await refusalOf(nobody)).toMatchObject({ status: 404, param: 'model' });
    expect(await refusalOf(chat().invoke('break'))).toMatchObject({ status: 502 });
  });

  test('what is not supported is refused by name', async () => {
    const [param, given] = useResponsesApi
      ? (['truncation', { modelKwargs: { truncation: 'disabled' } }] as const)
      : (['logprobs', { logprobs: true }] as const);
    expect(await refusalOf(chat(given).invoke('Hello'))).toMatchObject({ status: 400, param });
  });
});

test('@langchain/openai over Responses: previous_response_id goes on with a response', async () => {
  const chat = new ChatOpenAI({
    ...{ model: 'default', apiKey: gateway.token, maxRetries: 0, useResponsesApi: true },
    configuration: { baseURL: `http://127.0.0.1:${gateway.started.ports.b}/v1` },
  });
  const first = await chat.invoke('One');
  const goOn = { previous_response_id: String(first.response_metadata['id']) };
  expect((await chat.invoke('Two', goOn)).text).toBe('3 messages, the last: Two');
});
