import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../gateway-request.js';
import { accessOf } from './access.decorator.js';
import { ClientAddress } from './client-address.js';
import { RateCharge } from './rate-charge.js';

/** Second check: the bucket of this token (or, on an open route, of this address) for the route's tier. */
@Injectable()
export class RateTierGuard implements CanActivate {
  constructor(
    private readonly charge: RateCharge,
    private readonly addresses: ClientAddress,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    if (request.profile === 'operations') return true;
    const response = http.getResponse<Response>();
    const decision = this.charge.charge(response, this.bucketOf(request), accessOf(context).tier);
    return decision instanceof Promise ? decision.then(() => true) : true;
  }

  private bucketOf(request: GatewayRequest): string {
    const { caller } = request;
    return caller === undefined ? `open:${this.addresses.groupOf(request)}` : `token:${caller.tokenId}`;
  }
}
