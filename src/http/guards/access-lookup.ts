import type { ExecutionContext } from '@nestjs/common';
import { InternalError } from '../../common/errors/gateway-error.js';
import { Settings } from '../../platform/settings/settings.js';
import { ACCESS, type Access } from './access.decorator.js';

/** What the route of this request demands. No decorator is an error, never an open door. */
export function accessOf(context: ExecutionContext): Access {
  const access: unknown =
    Reflect.getMetadata(ACCESS, context.getHandler()) ?? Reflect.getMetadata(ACCESS, context.getClass());
  if (access === undefined) throw new InternalError('This route does not say who may use it.');
  return access as Access;
}

export function isOpen(access: Access, settings: Settings): boolean {
  return access.scope === 'open' || access.openWhen?.(settings.current) === true;
}
