import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { BadRequest, type GatewayError, HeadersTooLarge } from '../../common/errors/gateway-error.js';
import { newId } from '../../common/ids/typeid.js';
import type { RateDecision } from '../../platform/rate-limits/rate-limiter.port.js';
import { RefusalLog } from '../access-log/refusal-log.js';
import type { GatewayRequest } from '../gateway-request.js';
import { ClientAddress } from '../guards/client-address.js';
import { RateCharge, rateHeaders, rateLimited } from '../guards/rate-charge.js';
import type { ListenerId } from '../profiles/profile.js';
import { presentRefusal } from './error-envelope.js';

class RequestTooSlow extends BadRequest {
  override readonly status = 408;
}

/** Beside the codes of Node's parser: too many requests wait on one connection. */
export const TOO_MANY_WAIT = 'TOO_MANY_WAIT';

/** Responds to bytes that are no HTTP request, and to connections that send too much ahead. */
@Injectable()
export class RawRefusal {
  private readonly refused = new WeakSet<Socket>();

  constructor(
    private readonly charge: RateCharge,
    private readonly addresses: ClientAddress,
    private readonly refusals: RefusalLog,
  ) {}

  /** Responds once a connection, though the parser reports every further chunk. `code` is that of Node's parser, or `TOO_MANY_WAIT`. */
  async answer(socket: Socket, listener: ListenerId, code: string | undefined): Promise<void> {
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    // A socket taken from the HTTP server has no other error listener.
    socket.on('error', () => socket.destroy());
    const rate = listener === 'operations' ? undefined : await this.rateOf(socket);
    if (!socket.writable || code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const headers = rate === undefined ? {} : rateHeaders(rate);
    const error = errorOf(code, rate);
    this.refusals.note(error, { address: this.addresses.ofPeer(socket) });
    sendRawResponse(socket, { profile: listener }, error, headers);
  }

  /** When the limiter is unavailable the refusal goes out uncharged, not as a 503. */
  private async rateOf(socket: Socket): Promise<RateDecision | undefined> {
    try {
      return await this.charge.ask(`stranger:${this.addresses.groupOfPeer(socket)}`, 'other');
    } catch {
      return undefined;
    }
  }
}

function errorOf(code: string | undefined, rate: RateDecision | undefined): GatewayError {
  if (rate?.allowed === false) return rateLimited(rate);
  if (code === 'HPE_HEADER_OVERFLOW') return new HeadersTooLarge('The headers are too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new RequestTooSlow('The request did not arrive in time.');
  if (code === TOO_MANY_WAIT)
    return new BadRequest(
      'Too many requests wait on this connection. Read their responses before you send more, or use several connections.',
    );
  return new BadRequest('This is not an HTTP/1.1 request that can be understood.');
}

/** How long a refused connection is still read, so that a reset does not overtake the response. */
const LINGER_MS = 2000;

/** Sends an error on the bare socket, in the envelope of the listener, and ends the connection. */
export function sendRawResponse(
  socket: Socket,
  asked: Pick<GatewayRequest, 'face' | 'profile'>,
  error: GatewayError,
  rateHeaders: Readonly<Record<string, string>>,
): void {
  socket.end(responseText(asked, error, rateHeaders));
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

function responseText(
  asked: Pick<GatewayRequest, 'face' | 'profile'>,
  error: GatewayError,
  rateHeaders: Readonly<Record<string, string>>,
): string {
  const body = JSON.stringify(presentRefusal(asked, error));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': newId('req'),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...rateHeaders,
    ...error.headers,
    ...(error.retryAfterSecs === undefined ? {} : { 'Retry-After': error.retryAfterSecs }),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`;
  return `${[statusLine, ...lines].join('\r\n')}\r\n\r\n${body}`;
}
