import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Response } from 'express';
import { stackOf } from '../../common/errors/error-text.js';
import { BadRequest, GatewayError, InternalError, NotFound } from '../../common/errors/gateway-error.js';
import { databaseFailure } from '../../platform/database/database-failure.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { RefusalLog } from '../access-log/refusal-log.js';
import type { GatewayRequest } from '../gateway-request.js';
import { ClientAddress } from '../guards/client-address.js';
import { AnswerReplayed, KeyAlreadyUsed, KeyRefused } from '../idempotency/idempotency.errors.js';
import { IdempotencyGuard } from '../idempotency/idempotency.guard.js';
import { presentRefusal } from './error-envelope.js';

/** The one place that turns anything thrown into a response in the profile's envelope. */
@Catch()
export class GatewayErrorFilter implements ExceptionFilter {
  private readonly logger: Logger;

  constructor(
    private readonly keys: IdempotencyGuard,
    private readonly refusals: RefusalLog,
    private readonly addresses: ClientAddress,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway::http');
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    if (thrown instanceof AnswerReplayed) return;
    const http = host.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    const response = http.getResponse<Response>();
    const { presentedKey } = request;
    if (!(thrown instanceof KeyAlreadyUsed) || presentedKey === undefined)
      this.fail(thrown, request, response);
    else
      this.keys
        .replay(presentedKey, request, response)
        .catch((error: unknown) => this.fail(error, request, response));
  }

  private fail(thrown: unknown, request: GatewayRequest, response: Response): void {
    const error = thrownError(thrown);
    if (error instanceof KeyRefused) request.keyOutcome = 'refused';
    this.log(error, thrown, request);
    const { caller } = request;
    this.refusals.note(error, { token: caller?.tokenId, address: this.addresses.of(request) });
    const { claim } = request;
    if (claim === undefined) answer(response, request, error);
    else void claim.failed(error).then(() => answer(response, request, error));
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
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  if (error.retryAfterSecs !== undefined) response.setHeader('Retry-After', String(error.retryAfterSecs));
  const body = presentRefusal(request, error);
  response.status(error.status);
  if (isUnwantedBodyComing(request, response)) answerBeforeBodyEnds(request, response, body);
  else response.json(body);
}

/** The error that the caller gets for anything thrown; an unexpected one becomes a 500. */
function thrownError(thrown: unknown): GatewayError {
  const failure = databaseFailure(thrown);
  if (failure instanceof GatewayError) return failure;
  if (thrown instanceof HttpException && thrown.getStatus() === 404)
    return new NotFound('There is nothing here.');
  if (thrown instanceof HttpException && thrown.getStatus() < 500) return new BadRequest(thrown.message);
  return new InternalError('Something unexpected went wrong. Please report the request id of this answer.', {
    cause: thrown,
  });
}

/** Node itself drops a remainder up to this size, and the connection serves the next request. */
const SMALL_BYTES = 65_536;
/** How long the remainder of an unwanted body is read and dropped before the connection ends. */
const LINGER_MS = 5000;

/** Whether an unread body is still arriving and too large to wait for. */
function isUnwantedBodyComing(request: GatewayRequest, response: Response): boolean {
  const isSmall = Number(request.headers['content-length']) <= SMALL_BYTES;
  return !request.complete && !(isSmall && response.shouldKeepAlive);
}

/**
 * Responds to a request whose unread body is still arriving. The response leaves at once; then the rest of the body is
 * read and dropped for a while, because closing a connection while the other side still sends resets it and may lose the
 * response (RFC 9112, 9.6). Then the connection ends.
 */
function answerBeforeBodyEnds(request: GatewayRequest, response: Response, body: object): void {
  const text = JSON.stringify(body);
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.write(text);
  const timer = setTimeout(finish, LINGER_MS).unref();
  function finish(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once('end', finish);
  request.once('close', finish);
  request.resume();
}
