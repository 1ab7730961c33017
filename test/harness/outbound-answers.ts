import type {
  OutboundCall,
  OutboundClient,
  OutboundResponse,
} from '../../src/platform/outbound/outbound-client.js';

/** The outcome of a call: a status with a body, or why there is no response. */
export type ScriptedAnswer =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown }
  | Error;

/** An outbound client whose calls get these outcomes one after the other; the last one repeats. */
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
