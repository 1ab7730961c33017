import compression from 'compression';
import cors from 'cors';
import type { NextFunction, Request, Response } from 'express';
import type { Settings } from '../platform/settings/settings.js';
import type { GatewayRequest } from './gateway-request.js';
import { STALLED_MS } from './listeners/listener-server.js';

/** Response headers that scripts may read, besides those that browsers always expose. */
const EXPOSED_HEADERS = [
  'ETag',
  'Idempotency-Replayed',
  'Location',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];
/** Seconds for which a browser caches a preflight response. */
const PREFLIGHT_SECS = 600;

type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Lets scripts of pages in `gateway.cors_origins` read responses of the API ports (Fetch standard, "CORS protocol").
 * Answers their preflights without a token, since browsers send none. For other origins nothing changes: the browser
 * withholds the response from the page. The API uses no cookies, so a page has no credentials to abuse.
 */
function crossOrigin(settings: Settings): Middleware {
  const handle = cors({
    origin: (origin, allow) => allow(null, isAllowedOrigin(settings, origin)),
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECS,
  });
  return (request, response, next) => {
    const { profile } = request as unknown as GatewayRequest;
    if (request.headers.origin === undefined || profile === 'operations') next();
    else if (!isAllowedOrigin(settings, request.headers.origin)) next();
    else handle(request, response, next);
  };
}

/** Whether `gateway.cors_origins` names an origin. */
export function isAllowedOrigin(settings: Settings, origin: string | undefined): boolean {
  return origin !== undefined && settings.current.gateway.cors_origins.includes(origin.toLowerCase());
}

/** For smaller bodies compression costs more time than it saves. */
const MIN_BYTES = 1024;

/**
 * Compresses JSON responses of 1 KiB and more for callers that accept it (RFC 9110, 12.5.3), and nothing else:
 * compression would hold back the events of a stream. Callers that do not ask for it pay nothing.
 */
function compressedJson(): Middleware {
  const compress = compression({
    threshold: MIN_BYTES,
    filter: (_request, response) => {
      const type = response.getHeader('Content-Type');
      // A response that ends its connection may have to leave before the whole request has arrived.
      const compresses =
        typeof type === 'string' && type.startsWith('application/json') && !endsConnection(response);
      // The whole body is here, but the response is not finished before a caller has read what was compressed of it.
      if (compresses) response.setTimeout(STALLED_MS);
      return compresses;
    },
  });
  return (request, response, next) => {
    if (request.headers['accept-encoding'] === undefined) next();
    else compress(request, response, next);
  };
}

/** Both, for requests that bring one of the headers that they look at. Most bring neither and pass by with one look. */
export function forBrowsers(settings: Settings): Middleware {
  const [compress, share] = [compressedJson(), crossOrigin(settings)];
  return (request, response, next) => {
    const { origin, 'accept-encoding': encodings } = request.headers;
    if (origin === undefined && encodings === undefined) next();
    else compress(request, response, () => share(request, response, next));
  };
}

function endsConnection(response: Pick<Response, 'getHeader'>): boolean {
  return response.getHeader('Connection') === 'close';
}
