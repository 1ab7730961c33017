import compression from 'compression';
import type { NextFunction, Request, Response } from 'express';

/** Below, the saved bytes cost more time than they spare. */
const MIN_BYTES = 1024;

export type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Compresses JSON answers of more than 1 KiB for callers who can take it (RFC 9110, 12.5.3), and nothing else: a
 * compressed stream would hold its events back. Who does not ask for it pays nothing.
 */
export function compressedJson(): Middleware {
  const compress = compression({
    threshold: MIN_BYTES,
    filter: (_request, response) => {
      const type = response.getHeader('Content-Type');
      // An answer that ends its connection may have to leave before its request has arrived whole.
      return typeof type === 'string' && type.startsWith('application/json') && !endsConnection(response);
    },
  });
  return (request, response, next) => {
    if (request.headers['accept-encoding'] === undefined) next();
    else compress(request, response, next);
  };
}

function endsConnection(response: Pick<Response, 'getHeader'>): boolean {
  return response.getHeader('Connection') === 'close';
}
