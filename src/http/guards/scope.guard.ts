import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Forbidden } from '../../common/errors/gateway-error.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { grants, LacksScope } from '../../platform/tokens/scopes.js';
import type { GatewayRequest } from '../gateway-request.js';
import { accessOf, isOpen } from './access.decorator.js';

/** Third check: does the token have the scope? Only then reports what the listener found wrong with the path. */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(private readonly settings: Settings) {}

  canActivate(context: ExecutionContext): boolean {
    const access = accessOf(context);
    const request = context.switchToHttp().getRequest<GatewayRequest>();
    if (access.scope !== null && access.scope !== 'open' && !isOpen(access, this.settings)) {
      const granted = request.caller?.scopes ?? [];
      if (!grants(granted, access.scope)) {
        throw new LacksScope(access.scope);
      }
    }
    if (access.boundCallers === 'refused') refuseBoundCaller(request.caller);
    if (request.refusal !== undefined) throw request.refusal;
    return true;
  }
}

function refuseBoundCaller(caller: Caller | undefined): void {
  if (caller === undefined || caller.boundUserId === null) return;
  throw new Forbidden('This token sees one user only, and this is about all of them.', {
    details: { reason: 'token_bound_to_user' },
  });
}
