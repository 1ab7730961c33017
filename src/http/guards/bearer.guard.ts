import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { RateLimited, Unauthorized } from '../../common/errors/gateway-error.js';
import { CallerDirectory } from '../../platform/identity/caller-directory.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { bearerOf } from '../../platform/tokens/token-format.js';
import type { GatewayRequest } from '../gateway-request.js';
import { metadataChallenge } from '../resource-metadata.js';
import { accessOf, isOpen, type RateTier } from './access.decorator.js';
import { ClientAddress } from './client-address.js';
import { RateCharge } from './rate-charge.js';
import { UnknownTokenGate } from './unknown-token-gate.js';

/**
 * First check: who sends the request? A missing, malformed, unknown, expired or revoked token gets the same 401.
 * Unknown callers are charged by address, also when the database is unreachable (503).
 */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly tokens: CallerDirectory,
    private readonly charge: RateCharge,
    private readonly addresses: ClientAddress,
    private readonly gate: UnknownTokenGate,
    private readonly settings: Settings,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const access = accessOf(context);
    if (isOpen(access, this.settings)) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    const caller = this.tokens.find(bearerOf(request.headers.authorization), () =>
      this.gate.of(this.addresses.groupOf(request), access.tier),
    );
    if (caller === undefined || caller instanceof Promise)
      return this.admit(caller, request, http.getResponse<Response>(), access.tier);
    request.caller = caller;
    return true;
  }

  private async admit(
    asked: Promise<Caller | undefined> | undefined,
    request: GatewayRequest,
    response: Response,
    tier: RateTier,
  ): Promise<boolean> {
    try {
      request.caller = (await asked) ?? this.refuse(request);
      return true;
    } catch (error) {
      // The gate has refused it without a look-up and has set the headers.
      if (!(error instanceof RateLimited))
        await this.charge.charge(response, `stranger:${this.addresses.groupOf(request)}`, tier);
      throw error;
    }
  }

  private refuse(request: GatewayRequest): never {
    const sent = request.headers.authorization !== undefined;
    throw unauthorized(sent, metadataChallenge(this.settings.current, request));
  }
}

function unauthorized(sent: boolean, more: string): Unauthorized {
  const challenge = `Bearer realm="agent-gateway"${sent ? ', error="invalid_token"' : ''}${more}`;
  return new Unauthorized(
    sent
      ? 'The access token is not valid. Send a current one as "Authorization: Bearer <token>".'
      : 'An access token is required. Send it as "Authorization: Bearer <token>".',
    { headers: { 'WWW-Authenticate': challenge } },
  );
}
