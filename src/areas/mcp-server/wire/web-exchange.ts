import { once } from 'node:events';
import type { Response as ExpressResponse } from 'express';
import type { GatewayRequest } from '../../../http/gateway-request.js';

/** Aborted when the caller goes away before it has the whole response. */
export function goneSignal(response: ExpressResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  if (response.closed) gone.abort();
  return gone.signal;
}

/** The request in the form of the web platform, without its body, which was read. */
export function webRequest({ method, headers, originalUrl }: GatewayRequest, signal: AbortSignal): Request {
  const entries = Object.entries(headers).filter(([name]) => name !== 'content-length');
  const sent = entries.map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(new URL(originalUrl, 'http://gateway'), { method, headers: sent, signal });
}

/** A caller that reads nothing for this long is cut off. */
const STALLED_MS = 30_000;

/** Sends the response of such a library. Resolves when it is sent, or when nobody reads it any more. */
export async function sendWebResponse(answer: Response, response: ExpressResponse): Promise<void> {
  response.status(answer.status);
  for (const [name, value] of answer.headers) if (name !== 'connection') response.setHeader(name, value);
  response.flushHeaders();
  try {
    for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      if (response.closed) break;
      if (!response.write(chunk)) await once(response, 'drain', { signal: AbortSignal.timeout(STALLED_MS) });
    }
    response.end();
  } catch {
    response.destroy();
  }
}
