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

/** Answers what is no HTTP request. */
@Injectable()
export class RawRefusal {
  private readonly refused = new WeakSet<Socket>();

  constructor(
    private readonly charge: RateCharge,
    private readonly addresses: ClientAddress,
    private readonly refusals: RefusalLog,
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
    const headers = rate === undefined ? {} : rateHeaders(rate);
    const error = errorOf(parserCode, rate);
    this.refusals.note(error, { address: this.addresses.ofPeer(socket) });
    sendRawResponse(socket, listener, error, headers);
  }

  /** A refusal is worth no 503: when the limiter cannot be asked, it goes out uncharged. */
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
