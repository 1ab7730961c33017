import { Body, Controller, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { Open } from '../../../http/guards/access.decorator.js';
import { WebhookInbound } from '../adapters/webhook/webhook-inbound.service.js';
import { InboundMessageRequest } from './inbound.requests.js';
import { type InboundView, presentInbound } from './inbound.views.js';
import { SignedBodyGuard, type SignedRequest } from './signed-body.guard.js';

/** Where programs post messages to channels of the type webhook, on the ports of both profiles. */
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
    const answer = await this.inbound.receive(signed, message);
    response.status(answer.content === null ? 202 : 200);
    return presentInbound(answer);
  }
}
