import { createParamDecorator, type ExecutionContext, RequestMethod, type Type } from '@nestjs/common';
import {
  METHOD_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import type { GatewayRequest } from '../gateway-request.js';
import type { RequestKey } from './request-key.js';

export const STORES_ITS_RESPONSE = 'gateway:stores-its-response';

const KeyOfRequest = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  return context.switchToHttp().getRequest<GatewayRequest>().key satisfies RequestKey | undefined;
});

/**
 * Injects the request's Idempotency-Key, if any. A route that takes it stores its response in the transaction of its effect;
 * for every other route the key is claimed before the handler runs and the response stored after it.
 */
export const IdempotencyKey = (): ParameterDecorator => (target, name, index) => {
  const handler: unknown = name !== undefined && Reflect.get(target, name);
  if (typeof handler === 'function') Reflect.defineMetadata(STORES_ITS_RESPONSE, true, handler);
  KeyOfRequest()(target, name, index);
};

/** Throws for a POST or PATCH handler that writes its response itself: it could not be stored for an Idempotency-Key. */
export function refuseUnrecordedRoutes(controller: Type, name: string, handler: object): void {
  const method: unknown = Reflect.getMetadata(METHOD_METADATA, handler);
  if (method !== RequestMethod.POST && method !== RequestMethod.PATCH) return;
  if (Reflect.hasMetadata(STORES_ITS_RESPONSE, handler) || !writesItself(controller, name)) return;
  throw new Error(
    `${controller.name}.${name} writes its response itself, so it cannot be stored for an Idempotency-Key: ` +
      'return it, use @Res({ passthrough: true }), or take the key with @IdempotencyKey().',
  );
}

function writesItself(controller: Type, name: string): boolean {
  if (Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, name) === true) return false;
  const taken: unknown = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name);
  return Object.keys(taken ?? {}).some((key) => key.split(':')[0] === String(RouteParamtypes.RESPONSE));
}
