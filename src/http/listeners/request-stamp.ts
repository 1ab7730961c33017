import type { IncomingMessage, ServerResponse } from 'node:http';
import { BadRequest, HeadersTooLarge, UriTooLong } from '../../common/errors/gateway-error.js';
import { newId } from '../../common/ids/typeid.js';
import type { GatewayRequest } from '../gateway-request.js';
import { faceOf } from '../profiles/faces.js';
import type { ListenerId } from '../profiles/profile.js';

const MAX_URI_BYTES = 8192;
export const MAX_HEADER_BYTES = 16_384;

/** No route has this path, and none can get it. */
const UNROUTABLE = '/-';

/** No longer than what may be echoed. */
const REQUEST_ID = /^[\w.:-]{1,64}$/;

/** The first thing that happens to a request: notes its listener and id, and keeps what cannot be routed from the router. */
export function stampRequest(request: GatewayRequest, response: ServerResponse, listener: ListenerId): void {
  request.profile = listener;
  request.face = faceOf(request.url);
  request.receivedAt = performance.now();
  request.requestId = requestIdOf(request);
  response.setHeader('X-Request-Id', request.requestId);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  const refusal = unroutable(request);
  if (refusal !== undefined) request.refusal = refusal;
  // To the catch-all route: the caller is authenticated and counted as usual before the refusal.
  if (refusal !== undefined || request.url === '*') request.url = UNROUTABLE;
}

function requestIdOf(request: GatewayRequest): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : newId('req');
}

function unroutable(request: GatewayRequest): Error | undefined {
  if (request.url.length > MAX_URI_BYTES)
    return new UriTooLong(`The URI is longer than ${MAX_URI_BYTES} bytes.`);
  if (headerBytes(request) > MAX_HEADER_BYTES) {
    return new HeadersTooLarge(`The headers are larger than ${MAX_HEADER_BYTES} bytes.`);
  }
  if (request.url.includes('%') && !decodes(request.url)) {
    return new BadRequest('The URL holds a percent-escape that is a control character or no UTF-8.');
  }
  return ambiguity(request);
}

/**
 * RFC 9112, 3.2: only HTTP/1.0 may leave `Host` out, and no request may have two. Of two `Authorization` headers a proxy may
 * have looked at the other one.
 */
function ambiguity({ rawHeaders, httpVersion }: GatewayRequest): Error | undefined {
  let [hosts, authorizations] = [0, 0];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase();
    if (name === 'host') hosts += 1;
    else if (name === 'authorization') authorizations += 1;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    return new BadRequest('The request needs exactly one Host header.');
  if (authorizations > 1) return new BadRequest('The request may have one Authorization header only.');
  return undefined;
}

function headerBytes(request: GatewayRequest): number {
  let bytes = 0;
  for (const part of request.rawHeaders) bytes += part.length + 2;
  return bytes;
}

/** Whether every escape is UTF-8, and none a control character, which no name and no query value here has. */
function decodes(url: string): boolean {
  try {
    return !/\p{Cc}/u.test(decodeURIComponent(url));
  } catch {
    return false;
  }
}

/**
 * Whether a request has both a length and a transfer coding, even an empty one, which Node accepts. Two servers may then
 * see its end in different places, which allows request smuggling (RFC 9112, 6.3).
 */
export function isFramedTwice({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined && headers['content-length'] !== undefined;
}
