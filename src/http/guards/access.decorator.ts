import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import { InternalError } from '../../common/errors/gateway-error.js';
import type { Settings } from '../../platform/settings/settings.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { Caller } from '../../platform/tokens/caller.js';
import type { Scope } from '../../platform/tokens/scopes.js';
import type { GatewayRequest } from '../gateway-request.js';

export type RateTier = Exclude<keyof GatewaySettings['rate_limits'], 'store'>;

/** What a route requires of its caller. */
export interface Access {
  /** The scope a token needs; `null` for any valid token; `open` for no token at all. */
  readonly scope: Scope | null | 'open';
  readonly tier: RateTier;
  /** A setting that opens the route. */
  readonly openWhen?: (settings: GatewaySettings) => boolean;
  /** For the operators' API: whether a caller that is bound to a user is refused, or sees what belongs to that user. */
  readonly boundCallers?: 'refused' | 'own';
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

/**
 * The same for a route of the operators' API. Callers that are bound to a user are refused there (403), unless
 * `boundCallers: 'own'` says that the handler shows them what is that user's alone.
 */
export const AdminScope = (
  scope: Scope,
  { tier = 'other', boundCallers = 'refused' }: Partial<Pick<Access, 'tier' | 'boundCallers'>> = {},
): MethodDecorator & ClassDecorator =>
  applyDecorators(
    SetMetadata(ACCESS, { scope, tier, boundCallers } satisfies Access),
    ApiBearerAuth(),
    ApiExtension('x-required-scope', scope),
  );

/** For the operators' API: what the caller's own token may do; no scope is needed. */
export const OwnToken = (): MethodDecorator & ClassDecorator =>
  applyDecorators(
    SetMetadata(ACCESS, { scope: null, tier: 'other', boundCallers: 'own' } satisfies Access),
    ApiBearerAuth(),
  );

/** Any valid token is enough. */
export const AnyToken = (): MethodDecorator & ClassDecorator =>
  SetMetadata(ACCESS, { scope: null, tier: 'other' } satisfies Access);

/** Needs no token. */
export const Open = (): MethodDecorator & ClassDecorator =>
  SetMetadata(ACCESS, { scope: 'open', tier: 'other' } satisfies Access);

/** The access that the route of this request requires. Throws without a decorator: such a route is never open. */
export function accessOf(context: ExecutionContext): Access {
  const access: unknown =
    Reflect.getMetadata(ACCESS, context.getHandler()) ?? Reflect.getMetadata(ACCESS, context.getClass());
  if (access === undefined) throw new InternalError('This route does not say who may use it.');
  return access as Access;
}

export function isOpen(access: Access, settings: Settings): boolean {
  return access.scope === 'open' || access.openWhen?.(settings.current) === true;
}

/** The holder of the request's token. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<GatewayRequest>();
  if (caller === undefined) throw new InternalError('An open route asked for its caller.');
  return caller;
});
