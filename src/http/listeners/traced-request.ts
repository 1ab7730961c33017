import type { Response } from 'express';
import { startRequest } from '../../platform/tracing/spans.js';
import { type GatewayRequest, routeOf } from '../gateway-request.js';

/** Everything that the request causes belongs to its span, which ends with the answer. */
export function traced(request: GatewayRequest, response: Response, handle: () => void): void {
  const span = startRequest(request.headers, request.method);
  // Without its query, which may hold what people look for; the router changes the URL later.
  const [path = '/'] = request.url.split('?', 1);
  response.once('close', () => {
    const route = routeOf(request);
    span.end({
      name: route === undefined ? request.method : `${request.method} ${route}`,
      status: response.statusCode,
      attributes: {
        'http.request.method': request.method,
        ...(route === undefined ? {} : { 'http.route': route }),
        'url.scheme': 'http',
        'url.path': path,
        'server.port': request.socket.localPort,
        'network.protocol.version': request.httpVersion,
        'http.response.status_code': response.statusCode,
        'gateway.profile': request.profile,
        'gateway.request_id': request.requestId,
      },
    });
  });
  span.run(handle);
}
