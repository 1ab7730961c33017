import { Agent, handoff, OpenAIProvider, Runner, tool, user } from '@openai/agents';
import { z } from 'zod';
import { startTestGateway, type TestGateway } from '../../../harness/gateway.js';
import type { JudgingModel } from '../../../harness/judging-model.js';
import { openAiClient, refusalOf, startEchoModel } from '../../../harness/openai-face.js';
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

const city = z.object({ city: z.string() });

function runnerOver(useResponses: boolean): Runner {
  const openAIClient = openAiClient(gateway);
  return new Runner({
    modelProvider: new OpenAIProvider({ openAIClient, useResponses }),
    tracingDisabled: true,
  });
}

/** An agent of the SDK whose model is one of the gateway's. */
const agent = (more: object = {}) =>
  new Agent({ name: 'guide', instructions: 'Be brief.', model: 'default', ...more });

describe.each([
  ['Responses', true],
  ['Chat Completions', false],
])('@openai/agents over %s', (_name, useResponses) => {
  test('run: the answer and what it used', async () => {
    const { finalOutput, state } = await runnerOver(useResponses).run(agent(), 'Hello');
    expect(finalOutput).toBe('1 messages, the last: Hello');
    expect(state.usage.outputTokens).toBeGreaterThan(0);
    expect(model.requests.at(-1)!.system).toContain('Be brief.');
  });

  test('run, streamed: the answer piece by piece', async () => {
    const run = await runnerOver(useResponses).run(agent(), 'Hello', { stream: true });
    let text = '';
    for await (const piece of run.toTextStream()) text += piece;
    await run.completed;
    expect([text, run.finalOutput]).toEqual(['1 messages, the last: Hello', '1 messages, the last: Hello']);
  });

  test.each(['whole', 'as a stream'])('tools: the runner runs them, %s', async (how) => {
    const asked: string[] = [];
    const weather = tool({
      ...{ name: 'weather', description: 'The weather of a city', parameters: city },
      execute: (given) => {
        asked.push(given.city);
        return 'rain';
      },
    });
    const guide = agent({ tools: [weather], modelSettings: { parallelToolCalls: false } });
    const runner = runnerOver(useResponses);
    let output: unknown;
    if (how === 'as a stream') {
      const run = await runner.run(guide, 'call weather', { stream: true });
      await run.completed;
      output = run.finalOutput;
    } else output = (await runner.run(guide, 'call weather')).finalOutput;
    expect(asked).toEqual(['Oslo']);
    expect(output).toContain('told rain');
    expect(model.requests.at(-1)!.body['parallel_tool_calls']).toBe(false);
  });

  test('handoffs: another agent of the SDK goes on with the conversation', async () => {
    const helper = new Agent({ name: 'helper', instructions: 'You help.', model: 'default' });
    const hand = handoff(helper, { toolNameOverride: 'helper' });
    const run = await runnerOver(useResponses).run(agent({ handoffs: [hand] }), 'call helper');
    expect(run.lastAgent!.name).toBe('helper');
    expect(model.requests.at(-1)!.system).toContain('You help.');
  });

  test('outputType: the answer is of the schema', async () => {
    const run = await runnerOver(useResponses).run(agent({ outputType: city }), 'Where?');
    expect(run.finalOutput).toEqual({ city: 'Oslo' });
  });

  test('a picture reaches the model', async () => {
    const input = user([
      { type: 'input_text', text: 'Look' },
      { type: 'input_image', image: `data:image/png;base64,${PIXEL}` },
    ]);
    await runnerOver(useResponses).run(agent(), [input]);
    expect(model.requests.at(-1)!.messages.at(-1)!.media).toEqual(['image_url']);
  });

  test('history: the conversation goes on with what was answered', async () => {
    const runner = runnerOver(useResponses);
    const { history } = await runner.run(agent(), 'One');
    const run = await runner.run(agent(), [...history, user('Two')]);
    expect(run.finalOutput).toBe('3 messages, the last: Two');
  });

  test('an answer that says something and calls a tool goes on as one', async () => {
    const weather = tool({ name: 'weather', description: 'x', parameters: city, execute: () => 'rain' });
    const run = await runnerOver(useResponses).run(agent({ tools: [weather] }), 'aloud call weather');
    expect(run.finalOutput).toContain('told rain');
    const [, answer] = model.requests.at(-1)!.messages;
    expect([answer!.text, answer!.calls.length]).toEqual(['Let me see.', 1]);
  });

  test('errors: a model that is not there, a turn that fails', async () => {
    const nobody = runnerOver(useResponses).run(agent({ model: 'nobody' }), 'Hello');
    expect(await refusalOf(nobody)).toMatchObject({ status: 404, param: 'model' });
    expect(await refusalOf(runnerOver(useResponses).run(agent(), 'break'))).toMatchObject({ status: 502 });
  });

  test('what is not supported is refused by name', async () => {
    const loud = agent({ modelSettings: { text: { verbosity: 'low' } } });
    const param = useResponses ? 'text.verbosity' : 'verbosity';
    expect(await refusalOf(runnerOver(useResponses).run(loud, 'Hello'))).toMatchObject({
      status: 400,
      param,
    });
  });
});

describe('@openai/agents over Responses alone', () => {
  test('previousResponseId goes on with a response, and tools run within the chain', async () => {
    const runner = runnerOver(true);
    const weather = tool({
      ...{ name: 'weather', description: 'x', parameters: city, execute: () => 'rain' },
    });
    const first = await runner.run(agent(), 'One');
    const goOn = { previousResponseId: first.lastResponseId! };
    const second = await runner.run(agent({ tools: [weather] }), 'call weather', goOn);
    expect(second.finalOutput).toContain('told rain');
    expect(model.requests.at(-1)!.messages[0]!.text).toBe('One');
  });

  test('conversations are refused by name', async () => {
    const asked = runnerOver(true).run(agent(), 'Hello', { conversationId: 'conv_1' });
    expect(await refusalOf(asked)).toMatchObject({ status: 400, param: 'conversation' });
  });
});
