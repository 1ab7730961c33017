import { Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  ThrottlerStorage,
} from '@nestjs/throttler';
import type { Response } from 'express';
import { accessOf } from './access-lookup.js';
import { ClientAddress } from './client-address.js';
import type { GatewayRequest } from './gateway-request.js';
import { RateCharge } from './rate-charge.js';

/**
 * Second check: the bucket of this token (or, on an open route, of this address) for the route's tier.
 * Nest's throttler decides when a route is charged; how is ours: token buckets, headers on every answer.
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

  protected override async handleRequest({ context }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    if (request.profile === 'operations') return true;
    await this.charge.take(http.getResponse<Response>(), this.bucketOf(request), accessOf(context).tier);
    return true;
  }

  private bucketOf(request: GatewayRequest): string {
    const { caller } = request;
    return caller === undefined ? `open:${this.addresses.of(request)}` : `token:${caller.tokenId}`;
  }
}
