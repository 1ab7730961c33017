import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { BadRequest, type GatewayError, HeadersTooLarge } from '../../common/errors/gateway-error.js';
import type { RateDecision } from '../../platform/rate-limits/rate-limiter.port.js';
import { RefusalLog } from '../access-log/refusal-log.js';
import { ClientAddress } from '../guards/client-address.js';
import { RateCharge, rateHeaders, rateLimited } from '../guards/rate-charge.js';
import type { ListenerId } from '../profiles/profile.js';
import { sendRawResponse } from './raw-response.js';

class RequestTooSlow extends BadRequest {
  override readonly status = 408;
}

/** Responds to bytes that are no HTTP request. */
@Injectable()
export class RawRefusal {
  private readonly refused = new WeakSet<Socket>();

  constructor(
    private readonly charge: RateCharge,
    private readonly addresses: ClientAddress,
    private readonly refusals: RefusalLog,
  ) {}

  /** Responds once a connection, though the parser reports every further chunk. `parserCode` is the error code of Node's parser. */
  async answer(socket: Socket, listener: ListenerId, parserCode: string | undefined): Promise<void> {
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    // A socket taken from the HTTP server has no other error listener.
    socket.on('error', () => socket.destroy());
    const rate = listener === 'operations' ? undefined : await this.rateOf(socket);
    if (!socket.writable || parserCode === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const headers = rate === undefined ? {} : rateHeaders(rate);
    const error = errorOf(parserCode, rate);
    this.refusals.note(error, { address: this.addresses.ofPeer(socket) });
    sendRawResponse(socket, listener, error, headers);
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

function errorOf(parserCode: string | undefined, rate: RateDecision | undefined): GatewayError {
  if (rate?.allowed === false) return rateLimited(rate);
  if (parserCode === 'HPE_HEADER_OVERFLOW') return new HeadersTooLarge('The headers are too large.');
  if (parserCode === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new RequestTooSlow('The request did not arrive in time.');
  return new BadRequest('This is not an HTTP/1.1 request that can be understood.');
}
