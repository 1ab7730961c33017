import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Settings } from '../config/settings.js';
import { Unauthorized } from '../errors/gateway-error.js';
import { TokenDirectory } from '../tokens/token-directory.js';
import { type Access } from './access.decorator.js';
import { accessOf, isOpen } from './access-lookup.js';
import type { GatewayRequest } from './gateway-request.js';
import { RateCharge } from './rate-charge.js';

const BEARER = /^Bearer +([^\s]+) *$/i;

/**
 * First check of every request: who is it? The same 401 for a missing, malformed, unknown, expired and revoked
 * token, charged to the address that sent it.
 */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly tokens: TokenDirectory,
    private readonly charge: RateCharge,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = accessOf(context);
    if (isOpen(access, this.settings)) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    const caller = await this.tokens.find(presentedToken(request));
    if (caller === undefined) return this.refuse(request, http.getResponse(), access);
    request.caller = caller;
    return true;
  }

  private async refuse(request: GatewayRequest, response: Response, access: Access): Promise<never> {
    await this.charge.take(response, `stranger:${request.clientAddress}`, access.tier);
    const sent = request.headers.authorization !== undefined;
    throw new Unauthorized(
      sent
        ? 'The access token is not valid. Send a current one as "Authorization: Bearer <token>".'
        : 'An access token is required. Send it as "Authorization: Bearer <token>".',
      {
        headers: {
          'WWW-Authenticate': `Bearer realm="agent-gateway"${sent ? ', error="invalid_token"' : ''}`,
        },
      },
    );
  }
}

function presentedToken(request: GatewayRequest): string | undefined {
  return BEARER.exec(request.headers.authorization ?? '')?.[1];
}
