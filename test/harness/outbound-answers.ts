import type {
  OutboundCall,
  OutboundClient,
  OutboundResponse,
} from '../../src/platform/outbound/outbound-client.js';

/** What stands in for the answer to one call: a status with a body, or why there is none. */
export type ScriptedAnswer =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown }
  | Error;

/** A way out whose calls are answered one after the other as told; the last answer stays. */
export function answeringOutbound(...answers: readonly ScriptedAnswer[]): {
  outbound: OutboundClient;
  calls: OutboundCall[];
} {
  const calls: OutboundCall[] = [];
  const read = (call: OutboundCall): Promise<OutboundResponse> => {
    const answer = answers[Math.min(calls.length, answers.length - 1)] ?? { body: {} };
    calls.push(call);
    if (answer instanceof Error) return Promise.reject(answer);
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return Promise.resolve({
      status: answer.status ?? 200,
      headers: { 'content-type': 'application/json', ...answer.headers },
      body: Buffer.from(text),
    });
  };
  return { outbound: { read, send: read } as unknown as OutboundClient, calls };
}
