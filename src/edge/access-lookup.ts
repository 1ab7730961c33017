import type { ExecutionContext } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { InternalError } from '../errors/gateway-error.js';
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
