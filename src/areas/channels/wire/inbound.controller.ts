import { createHash } from 'node:crypto';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Injectable,
  Post,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { Response } from 'express';
import { BodyRoom } from '../../../http/body/body-room.js';
import { readJsonBytes } from '../../../http/body/json-body.guard.js';
import { readJsonObject } from '../../../http/body/json-bytes.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { Open } from '../../../http/guards/access.decorator.js';
import { ClientAddress } from '../../../http/guards/client-address.js';
import { Settings } from '../../../platform/settings/settings.js';
import { type SignedMessage, WebhookInbound } from '../adapters/webhook/webhook-inbound.service.js';
import { InboundMessageRequest, type InboundView, presentInbound } from './inbound.messages.js';

/** A request whose signature was verified. */
export interface SignedRequest extends GatewayRequest {
  signed: SignedMessage;
}

/** Checks the signature of the body, which replaces a token; the body is parsed only afterwards. */
@Injectable()
class SignedBodyGuard implements CanActivate {
  constructor(
    private readonly inbound: WebhookInbound,
    private readonly settings: Settings,
    private readonly room: BodyRoom,
    private readonly addresses: ClientAddress,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<SignedRequest>();
    const channel = String(request.params['channel']);
    const key = await this.inbound.keyOf(channel);
    const maxBytes = this.settings.current.gateway.max_body_bytes;
    const held = this.room.enterStranger(this.addresses.groupOf(request));
    const response = http.getResponse<Response>();
    response.once('close', () => held.release());
    const body = await readJsonBytes(request, response, { maxBytes, held });
    const id = request.header('webhook-id');
    const timestamp = request.header('webhook-timestamp');
    this.inbound.verify({ id, timestamp, signature: request.header('webhook-signature') }, body, key);
    request.signed = { channel, id: id ?? '', digest: createHash('sha256').update(body).digest('base64') };
    request.body = await readJsonObject(body);
    return true;
  }
}

/** Programs post messages to webhook channels here, on the ports of both profiles. */
@Controller({ path: 'inbound', version: ['a', 'b'] })
export class InboundController {
  constructor(private readonly inbound: WebhookInbound) {}

  @Post(':channel')
  @Open()
  @UseGuards(SignedBodyGuard)
  async receive(
    @Req() { signed }: SignedRequest,
    @Body() message: InboundMessageRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<InboundView> {
    const answer = await this.inbound.receive(signed, message, closedSignal(response));
    response.status(answer.content === null ? 202 : 200);
    return presentInbound(answer);
  }
}

/** Aborted when the response was sent, or nobody wants it any more. */
function closedSignal(response: Response): AbortSignal {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  if (response.closed) closed.abort();
  return closed.signal;
}
