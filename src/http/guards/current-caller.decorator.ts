import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { InternalError } from '../../common/errors/gateway-error.js';
import type { Caller } from '../../platform/tokens/caller.js';
import type { GatewayRequest } from '../gateway-request.js';

/** The holder of the request's token. */
export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<GatewayRequest>();
  if (caller === undefined) throw new InternalError('An open route asked for its caller.');
  return caller;
});
