import { Get, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { OriginGuard } from '../../../http/guards/foreign-origin.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { FaceController } from '../../../http/profiles/faces.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { McpHandlers } from './mcp.handlers.js';

/** The gateway as an MCP server over streamable HTTP (docs/mcp-server.md). */
@FaceController('mcp')
@UseGuards(OriginGuard)
export class McpServerController {
  constructor(private readonly handlers: McpHandlers) {}

  @Post()
  @RequireScope('sessions:write', 'sessions_write')
  @TakesJsonBody()
  post(
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.handlers.post(caller, key, request, response);
  }

  @Get()
  @RequireScope('sessions:write', 'sessions_read')
  get(
    @CurrentCaller() caller: Caller,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.handlers.get(caller, request, response);
  }
}
