import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { presentError } from '../errors/error-envelope.js';
import { BadRequest, type GatewayError, HeadersTooLarge } from '../errors/gateway-error.js';
import { newId } from '../ids/typeid.js';
import type { ListenerId } from '../profiles/profile.js';
import type { RateDecision } from '../rate-limits/rate-limiter.port.js';
import { ClientAddress } from './client-address.js';
import { RateCharge, rateHeaders, rateLimited } from './rate-charge.js';

class RequestTooSlow extends BadRequest {
  override readonly status = 408;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
};

/** How long a refused connection is still read from, so that a reset does not overtake the answer. */
const LINGER_MS = 2000;

/** Answers on the bare socket what is no HTTP request, in the listener's envelope, and ends the connection. */
@Injectable()
export class RawRefusal {
  private readonly refused = new WeakSet<Socket>();

  constructor(
    private readonly charge: RateCharge,
    private readonly addresses: ClientAddress,
  ) {}

  /** Once a connection: the parser complains of every further piece. `parserCode` is Node's word for what is wrong. */
  async answer(socket: Socket, listener: ListenerId, parserCode: string | undefined): Promise<void> {
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    // A socket that was taken from the HTTP server has nobody else to hear of its end.
    socket.on('error', () => socket.destroy());
    const rate = listener === 'operations' ? undefined : await this.rateOf(socket);
    if (!socket.writable || parserCode === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    socket.end(responseText(listener, errorOf(parserCode, rate), rate));
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(timer));
  }

  /** A refusal is worth no 503: when the limiter cannot be asked, it goes out uncharged. */
  private async rateOf(socket: Socket): Promise<RateDecision | undefined> {
    try {
      return await this.charge.ask(`stranger:${this.addresses.ofPeer(socket)}`, 'other');
    } catch {
      return undefined;
    }
  }
}

function errorOf(parserCode: string | undefined, rate: RateDecision | undefined): GatewayError {
  if (rate?.allowed === false) return rateLimited(rate);
  if (parserCode === 'HPE_HEADER_OVERFLOW') return new HeadersTooLarge('The headers are too large.');
  if (parserCode === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new RequestTooSlow('The request did not arrive in time.');
  return new BadRequest('This is not an HTTP/1.1 request that can be understood.');
}

function responseText(listener: ListenerId, error: GatewayError, rate: RateDecision | undefined): string {
  const body = JSON.stringify(presentError(listener, error));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': newId('req'),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...(rate === undefined ? {} : rateHeaders(rate)),
    ...(error.retryAfterSecs === undefined ? {} : { 'Retry-After': error.retryAfterSecs }),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const statusLine = `HTTP/1.1 ${error.status} ${REASONS[error.status] ?? 'Bad Request'}`;
  return `${[statusLine, ...lines].join('\r\n')}\r\n\r\n${body}`;
}
