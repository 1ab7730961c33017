import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { callOptions, collect, modelRequest, userMessage } from '../../../../test/harness/model-call.js';
import { type ScriptedProvider, startScriptedProvider } from '../../../../test/harness/scripted-provider.js';
import type { AnthropicParams } from './anthropic/anthropic-request.js';
import { createProvider } from './create-provider.js';

type OpenAiParams = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
/** What an SDK says of itself and its machine. */
const OF_THE_SDK = /^(x-stainless-.*|connection|accept-encoding|accept-language|sec-fetch-mode)$/;

let server: ScriptedProvider;
beforeAll(async () => {
  server = await startScriptedProvider();
  server.script((response) => void response.writeHead(400, { 'content-type': 'application/json' }).end('{}'));
});
afterAll(() => server.stop());

const wires = [
  {
    kind: 'openai',
    suffix: '/v1',
    callTheSdk: (baseURL: string, params: unknown) =>
      new OpenAI({ baseURL, apiKey: 'key-1', maxRetries: 0 }).chat.completions.create(params as OpenAiParams),
  },
  {
    kind: 'anthropic',
    suffix: '',
    callTheSdk: (baseURL: string, params: unknown) =>
      new Anthropic({
        baseURL,
        apiKey: 'key-1',
        defaultHeaders: { 'x-api-key': 'key-1' },
        maxRetries: 0,
      }).messages.create(params as AnthropicParams),
  },
] as const;

test.each(wires)('a call of $kind is the one that its SDK makes', async ({ kind, suffix, callTheSdk }) => {
  const baseUrl = `${server.url}${suffix}`;
  const provider = await createProvider({ kind, apiKey: 'key-1', baseUrl, model: 'm', why: 'test' });
  const tools = [{ name: 'weather', description: 'Tells it.', inputSchema: { type: 'object' } }];
  const request = modelRequest([userMessage('Grüezi')], { tools });
  await collect(provider.stream(request, callOptions())).catch(() => undefined);
  const ours = server.requests.at(-1);
  await Promise.resolve(callTheSdk(baseUrl, ours?.body)).catch(() => undefined);
  const theirs = server.requests.at(-1);
  expect(ours?.body).toMatchObject({ stream: true });
  expect({ ...ours, headers: told(ours?.headers) }).toEqual({ ...theirs, headers: told(theirs?.headers) });
});

function told(headers: object = {}): object {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_SDK.test(name)));
}
