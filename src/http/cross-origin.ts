import cors from 'cors';
import type { NextFunction, Request, Response } from 'express';
import type { Settings } from '../platform/settings/settings.js';
import type { GatewayRequest } from './gateway-request.js';

/** What a browser may show a script of an answer, beside what it shows by itself. */
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
/** Seconds for which a browser remembers what it was told before a request. */
const PREFLIGHT_SECS = 600;

export type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Lets scripts of the pages in `gateway.cors_origins` read answers of the API ports (Fetch standard, "CORS protocol").
 * Their preflights are answered here, without a token, since browsers send none. For every other origin nothing changes:
 * a browser then keeps the answer from the page. Without cookies there is nothing that a page could act with unasked.
 */
export function crossOrigin(settings: Settings): Middleware {
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
