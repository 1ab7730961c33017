import { CollectedBytes } from '../../../common/bytes/collected-bytes.js';
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
    const body = new CollectedBytes();
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      if (body.length + chunk.length > MAX_BYTES)
        throw new Error(`${new URL(to).origin} answered with more than ${MAX_BYTES} bytes`);
      body.add(chunk);
    }
    const hasNoBody = status === 204 || status === 205 || status === 304;
    const given = new Headers(headers);
    given.delete('content-encoding');
    given.delete('content-length');
    return new Response(hasNoBody ? null : body.take(), { status, statusText, headers: given });
  };
}
