import type { Duplex } from 'node:stream';
import { presentError } from '../errors/error-envelope.js';
import { BadRequest, type GatewayError, HeadersTooLarge } from '../errors/gateway-error.js';
import { newId } from '../ids/typeid.js';
import type { ListenerId } from '../profiles/profile.js';
import type { RateDecision } from '../rate-limits/rate-limiter.port.js';

class RequestTooSlow extends BadRequest {
  override readonly status = 408;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** Answers on the bare socket what is not even an HTTP request, in the listener's envelope, and ends the connection. */
export function refuseRaw(
  socket: Duplex,
  listener: ListenerId,
  parserCode: string | undefined,
  rate?: RateDecision,
): void {
  if (!socket.writable || parserCode === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const error = errorOf(parserCode);
  const body = JSON.stringify(presentError(listener, error));
  const headers = [
    `HTTP/1.1 ${error.status} ${REASONS[error.status] ?? 'Bad Request'}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${newId('req')}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    ...rateHeaders(rate),
    'Connection: close',
  ];
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`);
}

function errorOf(parserCode: string | undefined): GatewayError {
  if (parserCode === 'HPE_HEADER_OVERFLOW') return new HeadersTooLarge('The headers are too large.');
  if (parserCode === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new RequestTooSlow('The request did not arrive in time.');
  return new BadRequest('This is not an HTTP/1.1 request that can be understood.');
}

function rateHeaders(rate: RateDecision | undefined): string[] {
  if (rate === undefined) return [];
  return [
    `X-RateLimit-Limit: ${rate.limit}`,
    `X-RateLimit-Remaining: ${rate.remaining}`,
    `X-RateLimit-Reset: ${Math.ceil(rate.resetAtMs / 1000)}`,
  ];
}
