import type { Response } from 'express';
import { type GatewayRequest, routeLabel } from '../edge/gateway-request.js';
import { beginRequest } from '../tracing/spans.js';

/** Everything that the request causes belongs to its span, which ends with the answer. */
export function traced(request: GatewayRequest, response: Response, handle: () => void): void {
  const span = beginRequest(request.headers, request.method);
  response.once('close', () => {
    const route = routeLabel(request);
    span.end({
      name: `${request.method} ${route}`,
      status: response.statusCode,
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'http.response.status_code': response.statusCode,
        'gateway.profile': request.profile,
        'gateway.request_id': request.requestId,
      },
    });
  });
  span.run(handle);
}
