import { HttpException } from '@nestjs/common';
import { BadRequest, GatewayError, InternalError, NotFound } from '../../common/errors/gateway-error.js';
import { databaseFailure } from '../../platform/database/database-failure.js';

/** What the gateway answers to anything thrown. */
export function thrownError(thrown: unknown): GatewayError {
  const failure = databaseFailure(thrown);
  if (failure instanceof GatewayError) return failure;
  if (thrown instanceof HttpException && thrown.getStatus() === 404)
    return new NotFound('There is nothing here.');
  if (thrown instanceof HttpException && thrown.getStatus() < 500) return new BadRequest(thrown.message);
  return new InternalError('Something unexpected went wrong. Please report the request id of this answer.', {
    cause: thrown,
  });
}
