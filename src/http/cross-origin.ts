import cors from 'cors';
import type { NextFunction, Request, Response } from 'express';
import type { Settings } from '../platform/settings/settings.js';
import type { GatewayRequest } from './gateway-request.js';

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

export type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Lets scripts of pages in `gateway.cors_origins` read responses of the API ports (Fetch standard, "CORS protocol").
 * Answers their preflights without a token, since browsers send none. For other origins nothing changes: the browser
 * withholds the response from the page. The API uses no cookies, so a page has no credentials to abuse.
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
