import type { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { signalWithin } from '../../../platform/runtime/signal-within.js';
import type { Fetch } from '../identity/tool-identity.js';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 262_144;

/** The guarded fetch for authorization servers: bounded in time and size. */
export function authorizationFetch({ fetch }: OutboundClient): Fetch {
  return async (to, init) => {
    const response = await fetch(to, { ...init, signal: signalWithin(TIMEOUT_MS, init?.signal) });
    const { status, statusText, headers } = response;
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > MAX_BYTES)
        throw new Error(`${new URL(to).origin} answered with more than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    const hasNoBody = status === 204 || status === 205 || status === 304;
    const given = new Headers(headers);
    given.delete('content-encoding');
    given.delete('content-length');
    return new Response(hasNoBody ? null : Buffer.concat(chunks), { status, statusText, headers: given });
  };
}
