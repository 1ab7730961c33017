import { LLMock } from '@copilotkit/aimock';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

/** The wires against an independent fake, through the whole gateway: what a caller of either profile gets. */
const allWires = [
  { kind: 'openai', wire: 'chat', suffix: '/v1' },
  { kind: 'openai', wire: 'responses', suffix: '/v1' },
  { kind: 'anthropic', wire: 'auto', suffix: '' },
] as const;

interface ToolCallView {
  readonly id: string;
  readonly status: string;
  readonly output: string;
}
interface AnswerView {
  readonly role: string;
  readonly content: string;
  readonly tokens_used: number;
  readonly model: string;
  readonly tool_calls: readonly ToolCallView[];
}
interface FailureView {
  readonly error: { readonly code: string; readonly message: string; readonly details?: { reason?: string } };
}

describe.each(allWires)('the $kind wire ($wire)', ({ kind, wire, suffix }) => {
  let fake: LLMock;
  let gateway: TestGateway;

  beforeAll(async () => {
    fake = new LLMock({ port: 0 });
    await fake.start();
    gateway = await startTestGateway({
      env: {
        GATEWAY__PROVIDER__KIND: kind,
        GATEWAY__PROVIDER__WIRE: wire,
        GATEWAY__PROVIDER__API_KEY: 'key-of-nobody-1234',
        GATEWAY__PROVIDER__BASE_URL: `${fake.url}${suffix}`,
        GATEWAY__PROVIDER__MODEL: 'a-model',
        GATEWAY__AGENT__FIRST_BYTE_TIMEOUT_MS: '1500',
      },
    });
    gateway.tools.register({
      name: 'time_in',
      description: 'Tells the time.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      run: ({ city }) => Promise.resolve(`noon in ${String(city)}`),
    });
  });
  beforeEach(() => fake.reset());
  afterAll(async () => {
    await gateway.stop();
    await fake.stop();
  });

  describe.each(['a', 'b'] as const)('seen from Profile %s', (profile) => {
    async function newSession(): Promise<string> {
      const { body } = await gateway[profile].post<{ id?: string; session_id?: string }>('/sessions', {});
      return body.session_id ?? body.id ?? '';
    }
    async function ask<Body = AnswerView>(content: string) {
      const id = await newSession();
      const answer = await gateway[profile].post<Body>(`/sessions/${id}/messages`, { content });
      const { body } = await gateway[profile].get<{ messages: { role: string; content: string }[] }>(
        `/sessions/${id}/messages`,
      );
      return { ...answer, history: body.messages };
    }
    const reasonOf = ({ error }: FailureView): string | undefined =>
      profile === 'b' ? error.details?.reason : error.message;

    test('a text arrives with its usage and model', async () => {
      fake.onMessage('hello', {
        content: 'Good morning to you.',
        model: 'a-model-2',
        usage: { prompt_tokens: 11, completion_tokens: 7 },
      });
      const { status, body } = await ask('hello');
      expect(status).toBe(200);
      expect(body).toMatchObject({
        role: 'assistant',
        content: 'Good morning to you.',
        tokens_used: 18,
        model: 'a-model-2',
        tool_calls: [],
      });
    });

    test('parallel tool calls run, and the model uses what they answer', async () => {
      // The fake looks at the last result in the request. This rule precedes that for the question.
      fake.onToolResult('call_a', { content: 'It is noon in both.' });
      fake.onToolResult('call_b', { content: 'It is noon in both.' });
      fake.onMessage('both', {
        toolCalls: [
          { id: 'call_a', name: 'time_in', arguments: '{"city":"Bern"}' },
          { id: 'call_b', name: 'time_in', arguments: '{"city":"Basel"}' },
        ],
      });
      const { status, body } = await ask('both');
      expect(status).toBe(200);
      expect(body.content).toBe('It is noon in both.');
      expect(body.tool_calls).toMatchObject([
        { id: 'call_a', status: 'success', output: 'noon in Bern' },
        { id: 'call_b', status: 'success', output: 'noon in Basel' },
      ]);
    });

    test('a provider that is busy for a second is asked again after it', async () => {
      fake.on(
        { userMessage: 'busy', sequenceIndex: 0 },
        { error: { message: 'busy' }, status: 429, retryAfter: 1 },
      );
      fake.onMessage('busy', { content: 'Here I am.' });
      const began = performance.now();
      const { status, body } = await ask('busy');
      expect([status, body.content]).toEqual([200, 'Here I am.']);
      expect(performance.now() - began).toBeGreaterThan(990);
    });

    test('a provider that fails is a 502 that says so, and the message is kept', async () => {
      fake.onMessage('broken', { error: { message: 'Out of order.' }, status: 500 });
      const { status, body, history } = await ask<FailureView>('broken');
      expect(status).toBe(502);
      expect(body.error.code).toBe('internal_error');
      expect(reasonOf(body)).toMatch(profile === 'b' ? /^provider_error$/ : /failed \(500\): Out of order\./);
      expect(history[0]).toMatchObject({ role: 'user', content: 'broken' });
    });

    test('a stream that is cut is a 502, and what was said stays in the history', async () => {
      fake.onMessage(
        'cut',
        { content: 'abcdefghij' },
        { chunkSize: 1, truncateAfterChunks: wire === 'responses' ? 11 : 8, streamingProfile: { tps: 100 } },
      );
      const { status, body, history } = await ask<FailureView>('cut');
      expect(status).toBe(502);
      expect(reasonOf(body)).toMatch(profile === 'b' ? /^provider_stream_cut$/ : /cut|ended/);
      expect(history[1]?.content).toMatch(/^ab/);
      expect(fake.getRequests()).toHaveLength(1);
    });

    test('a provider that hangs is a 504 at its deadline', async () => {
      fake.onMessage('hang', { content: 'late' }, { chaos: { latencyMs: 5000 } });
      const { status, body } = await ask<FailureView>('hang');
      expect(status).toBe(504);
      expect(reasonOf(body)).toMatch(
        profile === 'b' ? /^provider_first_byte_timeout$/ : /did not answer within|first/,
      );
    });
  });
});
