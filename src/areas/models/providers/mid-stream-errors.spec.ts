import { callOptions, modelRequest, userMessage } from '../../../../test/harness/model-call.js';
import {
  beginStream,
  type ScriptedProvider,
  startScriptedProvider,
} from '../../../../test/harness/scripted-provider.js';
import type { ModelEvent } from '../model-provider.port.js';
import { createProvider } from './create-provider.js';

interface Words {
  readonly word: string;
  readonly reason: string;
}

/** How each wire says a word of an answer, and that it breaks it off. */
const WIRES = [
  {
    name: 'Chat Completions',
    choice: { kind: 'openai', wire: 'chat' } as const,
    said: { model: 'm', choices: [{ index: 0, delta: { content: 'Well, ' } }] },
    forms: [(word: string) => ({ error: { code: word, message: 'No more.' } })],
    words: ['server_error', 'rate_limit_exceeded', 'insufficient_quota', 'content_filter', 'invalid_prompt'],
  },
  {
    name: 'Responses',
    choice: { kind: 'openai', wire: 'responses' } as const,
    said: { type: 'response.output_text.delta', output_index: 0, delta: 'Well, ' },
    forms: [
      (word: string) => ({ type: 'error', code: word, message: 'No more.' }),
      (word: string) => ({ type: 'error', error: { code: word, message: 'No more.' } }),
      (word: string) => ({
        type: 'response.failed',
        response: { error: { code: word, message: 'No more.' } },
      }),
    ],
    words: [
      'server_error',
      'rate_limit_exceeded',
      'insufficient_quota',
      'invalid_prompt',
      'image_content_policy_violation',
    ],
  },
  {
    name: 'Messages',
    choice: { kind: 'anthropic' } as const,
    said: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Well, ' } },
    forms: [(word: string) => ({ type: 'error', error: { type: word, message: 'No more.' } })],
    words: [
      ...['api_error', 'rate_limit_error', 'overloaded_error', 'billing_error', 'authentication_error'],
      ...['permission_error', 'not_found_error', 'timeout_error', 'invalid_request_error'],
    ],
  },
];
const REASONS: Readonly<Record<string, string>> = {
  server_error: 'provider_error',
  api_error: 'provider_error',
  rate_limit_exceeded: 'provider_rate_limited',
  rate_limit_error: 'provider_rate_limited',
  overloaded_error: 'provider_overloaded',
  insufficient_quota: 'provider_quota_used_up',
  billing_error: 'provider_quota_used_up',
  authentication_error: 'provider_refused_credentials',
  permission_error: 'provider_refused_credentials',
  not_found_error: 'provider_unknown_model',
  timeout_error: 'provider_timed_out',
  content_filter: 'provider_filtered_content',
  image_content_policy_violation: 'provider_filtered_content',
  invalid_prompt: 'provider_rejected_request',
  invalid_request_error: 'provider_rejected_request',
};

let server: ScriptedProvider;
beforeAll(async () => {
  server = await startScriptedProvider();
});
afterAll(() => server.stop());

describe.each(WIRES)('an error in the middle of a stream of $name', ({ choice, said, forms, words }) => {
  const cases = words.flatMap((word): (Words & { event: object })[] =>
    forms.map((form) => ({ word, reason: REASONS[word] ?? '', event: form(word) })),
  );

  it.each(cases)('$word has the reason $reason: $event', async ({ reason, event }) => {
    server.script((response) => {
      beginStream(response, said, event);
      response.end();
    });
    const baseUrl = choice.kind === 'openai' ? `${server.url}/v1` : server.url;
    const provider = await createProvider({ ...choice, apiKey: 'key-1', baseUrl, model: 'm', why: 'test' });
    const heard: ModelEvent[] = [];
    const listening = async () => {
      for await (const one of provider.stream(
        modelRequest([userMessage('Hi')], { model: 'm' }),
        callOptions(),
      ))
        heard.push(one);
    };
    await expect(listening()).rejects.toMatchObject({
      details: { reason },
      message: expect.stringContaining('No more') as unknown,
    });
    // What was said is not said again.
    expect(heard).toEqual([{ type: 'token', text: 'Well, ' }]);
    expect(server.requests).toHaveLength(1);
  });
});
