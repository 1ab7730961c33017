import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { Response } from 'express';
import type { GatewayRequest } from '../gateway-request.js';
import { accessOf } from './access.decorator.js';
import { ClientAddress } from './client-address.js';
import { RateCharge } from './rate-charge.js';

/**
 * Second check: the bucket of this token (or, on an open route, of this address) for the route's tier.
 *
 * The stock guard asks every named throttler of every route and awaits five promises for each; this one knows the only one
 * that counts, and answers at once where the bucket does (docs/decisions/0017).
 */
@Injectable()
export class RateTierGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly charge: RateCharge,
    private readonly addresses: ClientAddress,
  ) {
    super(options, storage, reflector);
  }

  override canActivate(context: ExecutionContext): Promise<boolean> {
    // Nest takes a plain boolean too; the stock guard's type does not say so.
    return this.passes(context) as Promise<boolean>;
  }

  private passes(context: ExecutionContext): boolean | Promise<boolean> {
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
