import { Get, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { CurrentCaller, Open, RequireScope } from '../../../http/guards/access.decorator.js';
import { OriginGuard } from '../../../http/guards/foreign-origin.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { FaceController } from '../../../http/profiles/faces.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { A2aHandlers } from './a2a.handlers.js';

/** The gateway as an agent among agents: JSON-RPC of A2A (docs/a2a.md). */
@FaceController('a2a')
@UseGuards(OriginGuard)
export class A2aController {
  constructor(private readonly handlers: A2aHandlers) {}

  @Post()
  @RequireScope('sessions:write', 'sessions_write')
  @TakesJsonBody('max_message_body_bytes')
  post(
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.handlers.post(caller, key, request, response);
  }
}

/** The card, where other agents look for it. Open: its readers have no token yet. */
@FaceController('.well-known/agent-card.json')
@Open()
export class AgentCardController {
  constructor(private readonly handlers: A2aHandlers) {}

  @Get()
  card(@Req() request: GatewayRequest): object {
    return this.handlers.card(request);
  }
}
