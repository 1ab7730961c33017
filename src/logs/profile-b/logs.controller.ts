import { Get, Query, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiHeader, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { Response } from 'express';
import { RequireScope } from '../../edge/access.decorator.js';
import { TheCaller } from '../../edge/caller.decorator.js';
import type { GatewayRequest } from '../../edge/gateway-request.js';
import { ProfileBController } from '../../profiles/profile.js';
import type { Caller } from '../../tokens/caller.js';
import { refuseBoundCaller } from '../wire/refuse-bound-caller.js';
import { ListLogsQueryB, StreamLogsQueryB } from './log.requests.js';
import { LogListViewB } from './log.views.js';
import { LogsHandlersB } from './logs.handlers.js';

const EVENTS = { 'text/event-stream': { schema: { type: 'string' } } };
const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  required: false,
  description: 'The id of the last event that was received; the stream goes on after it',
} as const;

/** Logs in Profile B (specification 4.2). Events are `log`, with an entry as data, and `gap`. */
@ProfileBController('logs')
@ApiExtraModels(LogListViewB)
export class LogsControllerB {
  constructor(private readonly logs: LogsHandlersB) {}

  @Get()
  @RequireScope('logs:read')
  @ApiHeader(LAST_EVENT_ID)
  @ApiResponse({
    status: 200,
    description: 'Log entries of all replicas, oldest first; with stream=true they are events, and go on',
    content: { 'application/json': { schema: { $ref: getSchemaPath(LogListViewB) } }, ...EVENTS },
  })
  async list(
    @Query() query: ListLogsQueryB,
    @TheCaller() caller: Caller,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    refuseBoundCaller(caller);
    await this.logs.answer(query, request, response);
  }

  @Get('stream')
  @RequireScope('logs:read')
  @ApiHeader(LAST_EVENT_ID)
  @ApiResponse({ status: 200, description: 'Log entries of all replicas as they come', content: EVENTS })
  async stream(
    @Query() { level: minLevel }: StreamLogsQueryB,
    @TheCaller() caller: Caller,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    refuseBoundCaller(caller);
    await this.logs.stream({ minLevel }, undefined, request, response);
  }
}
