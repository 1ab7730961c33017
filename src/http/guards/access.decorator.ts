import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { Scope } from '../../platform/tokens/scopes.js';

export type RateTier = Exclude<keyof GatewaySettings['rate_limits'], 'store'>;

/** What a route demands of its caller. */
export interface Access {
  /** The scope a token needs; `null` for any valid token; `open` for no token at all. */
  readonly scope: Scope | null | 'open';
  readonly tier: RateTier;
  /** A setting that opens the route. */
  readonly openWhen?: (settings: GatewaySettings) => boolean;
}

export const ACCESS = 'gateway:access';

/** The scope a route needs and the rate tier it is charged to. A route without it stops the start. */
export const RequireScope = (
  scope: Scope,
  tier: RateTier = 'other',
  openWhen?: Access['openWhen'],
): MethodDecorator & ClassDecorator =>
  applyDecorators(
    SetMetadata(ACCESS, { scope, tier, ...(openWhen === undefined ? {} : { openWhen }) } satisfies Access),
    ApiBearerAuth(),
    ApiExtension('x-required-scope', scope),
  );

/** Any valid token will do. */
export const AnyToken = (): MethodDecorator & ClassDecorator =>
  SetMetadata(ACCESS, { scope: null, tier: 'other' } satisfies Access);

/** No token is asked for. */
export const Open = (): MethodDecorator & ClassDecorator =>
  SetMetadata(ACCESS, { scope: 'open', tier: 'other' } satisfies Access);
