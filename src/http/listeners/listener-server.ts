import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import type { Express } from 'express';
import { MAX_HEADER_BYTES } from './request-stamp.js';

/** Node's two classes with Express's prototypes. */
export type ExpressClasses = Required<Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>>;

/**
 * Express replaces the prototype of every request and response, which costs more than everything else it does. Objects of
 * these classes already have it, so the replacement changes nothing. Called once per application, for all its servers.
 */
export function expressClasses(express: Express): ExpressClasses {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(ExpressRequest.prototype, express.request);
  Object.setPrototypeOf(ExpressResponse.prototype, express.response);
  express.request = ExpressRequest.prototype as unknown as Express['request'];
  express.response = ExpressResponse.prototype as unknown as Express['response'];
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

export function createExpressServer(classes: ExpressClasses, handle: RequestListener): Server {
  return createServer(
    {
      ...classes,
      // The edge refuses above MAX_HEADER_BYTES in the envelope; the parser only bounds memory.
      maxHeaderSize: 2 * MAX_HEADER_BYTES,
      requireHostHeader: false,
      keepAliveTimeout: 75_000,
      headersTimeout: 10_000,
      requestTimeout: 120_000,
      connectionsCheckingInterval: 1000,
    },
    handle,
  );
}
