import { All, Controller, Req } from '@nestjs/common';
import { AnyToken } from '../edge/access.decorator.js';
import type { GatewayRequest } from '../edge/gateway-request.js';
import { RouteTable } from '../edge/route-table.js';
import { MethodNotAllowed, NotFound } from '../errors/gateway-error.js';

/** What no other route takes. It is a route so that an unknown path, too, is authenticated, counted and enveloped. */
@Controller({ version: ['a', 'b'] })
export class UnknownPathController {
  constructor(private readonly routes: RouteTable) {}

  @All('{*path}')
  @AnyToken()
  refuse(@Req() request: GatewayRequest): never {
    const allowed = this.routes.methodsFor(request.profile, request.path).join(', ');
    if (allowed === '')
      throw new NotFound('There is no such path here. GET /openapi.json lists what there is.');
    throw new MethodNotAllowed(`This path answers only to ${allowed}.`, { headers: { Allow: allowed } });
  }
}
