import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { GatewayRequest } from '../gateway-request.js';
import type { RequestKey } from './request-key.js';

export const STORES_ITS_RESPONSE = 'gateway:keeps-its-answer';

const KeyOfRequest = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  return context.switchToHttp().getRequest<GatewayRequest>().key satisfies RequestKey | undefined;
});

/**
 * The request's Idempotency-Key, if it has one. A route that takes it keeps its answer in the transaction of its effect;
 * every other route is claimed before it begins and its answer is written down when it has ended.
 */
export const IdempotencyKey = (): ParameterDecorator => (target, name, index) => {
  const handler: unknown = name !== undefined && Reflect.get(target, name);
  if (typeof handler === 'function') Reflect.defineMetadata(STORES_ITS_RESPONSE, true, handler);
  KeyOfRequest()(target, name, index);
};
