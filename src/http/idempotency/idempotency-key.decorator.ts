import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { GatewayRequest } from '../gateway-request.js';
import type { RequestKey } from './request-key.js';

export const STORES_ITS_RESPONSE = 'gateway:keeps-its-answer';

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
