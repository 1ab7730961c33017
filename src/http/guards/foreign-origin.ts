import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Forbidden } from '../../common/errors/gateway-error.js';
import { Settings } from '../../platform/settings/settings.js';
import type { GatewayRequest } from '../gateway-request.js';
import { isAllowedOrigin } from '../middleware.js';

class ForeignOrigin extends Forbidden {
  constructor() {
    super('Pages of this origin may not connect. gateway.cors_origins names those that may.', {
      details: { reason: 'foreign_origin' },
    });
  }
}

/**
 * Browsers let any page open a WebSocket to any host; they only say which origin asks. Throws `Forbidden` for a page that
 * neither comes from this gateway nor is named in `gateway.cors_origins`.
 */
export function refuseForeignOrigin(settings: Settings, { origin, host }: IncomingHttpHeaders): void {
  if (origin === undefined || isAllowedOrigin(settings, origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()) return;
  throw new ForeignOrigin();
}

/**
 * The same for a route, and stricter: a name that the page's author had point here (DNS rebinding) is no name of this
 * gateway. Only `gateway.public_url`, an address and localhost are.
 */
@Injectable()
export class OriginGuard implements CanActivate {
  constructor(private readonly settings: Settings) {}

  canActivate(context: ExecutionContext): true {
    const { headers } = context.switchToHttp().getRequest<GatewayRequest>();
    refuseForeignOrigin(this.settings, headers);
    const { origin } = headers;
    if (origin === undefined || isAllowedOrigin(this.settings, origin) || this.isOwn(new URL(origin)))
      return true;
    throw new ForeignOrigin();
  }

  private isOwn({ origin, hostname }: URL): boolean {
    const { public_url: publicUrl } = this.settings.current.gateway;
    if (publicUrl !== '' && new URL(publicUrl).origin === origin) return true;
    return hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  }
}
