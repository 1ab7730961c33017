import compression from 'compression';
import type { NextFunction, Request, Response } from 'express';

/** For smaller bodies compression costs more time than it saves. */
const MIN_BYTES = 1024;

export type Middleware = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Compresses JSON responses of 1 KiB and more for callers that accept it (RFC 9110, 12.5.3), and nothing else:
 * compression would hold back the events of a stream. Callers that do not ask for it pay nothing.
 */
export function compressedJson(): Middleware {
  const compress = compression({
    threshold: MIN_BYTES,
    filter: (_request, response) => {
      const type = response.getHeader('Content-Type');
      // A response that ends its connection may have to leave before the whole request has arrived.
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
