import OpenAI from 'openai';
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses';
import type { TestGateway } from './gateway.js';
import { type Judgement, type JudgingModel, type SentRequest, startJudgingModel } from './judging-model.js';

/** A model that repeats what it was sent, calls the tools it is told to call, and follows a requested format. */
export function startEchoModel(): Promise<JudgingModel> {
  let calls = 0;
  const nextId = (): string => {
    calls += 1;
    return `call_${calls}`;
  };
  return startJudgingModel('openai', ({ messages, body }: SentRequest): Judgement => {
    const last = messages.at(-1)!;
    if (last.text.includes('break')) return { status: 400 };
    const named = [...last.text.matchAll(/\bcall (\w+)/g)].map(([, name = '']) => name);
    if (last.role === 'user' && named.length > 0)
      return {
        ...(last.text.includes('aloud') && { text: 'Let me see.' }),
        calls: named.map((name) => ({ id: nextId(), name, arguments: { city: 'Oslo' } })),
      };
    if ('response_format' in body) return { text: '{"city":"Oslo"}' };
    const results = messages.flatMap((one) => one.results.map(({ content }) => content));
    const told = results.length === 0 ? '' : ` told ${results.join(', ')}`;
    return { text: `${messages.length} messages, the last: ${last.text}${told}` };
  });
}

export function openAiClient(gateway: TestGateway, apiKey = gateway.token, port: 'a' | 'b' = 'a'): OpenAI {
  return new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${gateway.started.ports[port]}/v1`, maxRetries: 0 });
}

/** The error with which a client is refused. */
export async function refusalOf(
  call: Promise<unknown>,
): Promise<{ status: number; param: string | null; code: string | null }> {
  const error: unknown = await call.then(
    () => new Error('It was expected to be refused.'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OpenAI.APIError)) throw error;
  const { status, param, code, message, type } = error as InstanceType<typeof OpenAI.APIError>;
  if (typeof message !== 'string' || typeof type !== 'string')
    throw new Error('The error has no OpenAI shape.');
  return { status: Number(status), param: param ?? null, code: code ?? null };
}

/** Outputs for all calls that the response asks its caller to make. */
export function outputsOf({ output }: OpenAiResponse, said = 'rain') {
  return output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: said }]
      : [],
  );
}
