import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Response } from 'express';
import { databaseFailure } from '../database/database-failure.js';
import { presentError } from '../errors/error-envelope.js';
import { BadRequest, GatewayError, InternalError, NotFound } from '../errors/gateway-error.js';
import { type Logger, Logs } from '../logs/logger.js';
import type { GatewayRequest } from './gateway-request.js';
import { answerBeforeBodyEnds, isUnwantedBodyComing } from './unwanted-body.js';

/** The one place where anything thrown becomes an answer in the profile's envelope. */
@Catch()
export class GatewayErrorFilter implements ExceptionFilter {
  private readonly logger: Logger;

  constructor(logs: Logs) {
    this.logger = logs.for('gateway::edge');
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    const response = http.getResponse<Response>();
    const error = gatewayError(thrown);
    this.log(error, thrown, request);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    answer(response, request, error);
  }

  private log(error: GatewayError, thrown: unknown, request: GatewayRequest): void {
    const fields = { request_id: request.requestId, status: error.status, reason: error.details?.reason };
    if (error.logLevel !== 'error') {
      this.logger[error.logLevel](error.message, fields);
      return;
    }
    this.logger.error('an unexpected error was answered with 500', { ...fields, error: stackOf(thrown) });
  }
}

function answer(response: Response, request: GatewayRequest, error: GatewayError): void {
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  if (error.retryAfterSecs !== undefined) response.setHeader('Retry-After', String(error.retryAfterSecs));
  const body = presentError(request.profile, error);
  response.status(error.status);
  if (isUnwantedBodyComing(request, response)) answerBeforeBodyEnds(request, response, body);
  else response.json(body);
}

function gatewayError(thrown: unknown): GatewayError {
  const failure = databaseFailure(thrown);
  if (failure instanceof GatewayError) return failure;
  if (thrown instanceof HttpException && thrown.getStatus() === 404)
    return new NotFound('There is nothing here.');
  if (thrown instanceof HttpException && thrown.getStatus() < 500) return new BadRequest(thrown.message);
  return new InternalError('Something unexpected went wrong. Please report the request id of this answer.', {
    cause: thrown,
  });
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
