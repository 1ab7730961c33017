import { Get, Query, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiHeader, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Does } from '../../../http/openapi/answers.decorator.js';
import { eventModels, eventStream } from '../../../http/openapi/event-stream.schema.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { refuseBoundCaller } from '../wire/refuse-bound-caller.js';
import { ListLogsQueryB, StreamLogsQueryB } from './log.requests.js';
import { LOG_EVENTS_B, LogListViewB } from './log.views.js';
import { LogsHandlersB } from './logs.handlers.js';

const EXAMPLE =
  'retry: 1800\nid: 41\n\n' +
  'id: 42\nevent: log\ndata: {"timestamp":"2026-01-31T12:00:00.000Z","level":"info","module":"agent::turn",' +
  '"message":"a turn was answered"}\n\n';
const EVENTS = eventStream('LogEvents', LOG_EVENTS_B, EXAMPLE);
const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  required: false,
  description: 'The id of the last event that was received; the stream goes on after it',
} as const;

/** Logs in Profile B (docs/specification/api.md, 4.2). Events are `log`, with an entry as data, and `gap`. */
@ProfileBController('logs')
@ApiExtraModels(LogListViewB, ...eventModels(LOG_EVENTS_B))
export class LogsControllerB {
  constructor(private readonly logs: LogsHandlersB) {}

  @Get()
  @Does(
    'List or stream log entries',
    'Of all replicas, oldest first; when more match than `limit`, the newest ones. With `stream=true` the answer is events, and goes on.',
  )
  @RequireScope('logs:read')
  @ApiHeader(LAST_EVENT_ID)
  @ApiResponse({
    status: 200,
    description: 'Log entries of all replicas, oldest first; with stream=true they are events, and go on',
    content: { 'application/json': { schema: { $ref: getSchemaPath(LogListViewB) } }, ...EVENTS },
  })
  async list(
    @Query() query: ListLogsQueryB,
    @CurrentCaller() caller: Caller,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    refuseBoundCaller(caller);
    await this.logs.answer(query, request, response);
  }

  @Get('stream')
  @Does('Stream log entries', 'As they come, from all replicas, until the reader leaves.')
  @RequireScope('logs:read')
  @ApiHeader(LAST_EVENT_ID)
  @ApiResponse({ status: 200, description: 'Log entries of all replicas as they come', content: EVENTS })
  async stream(
    @Query() { level: minLevel }: StreamLogsQueryB,
    @CurrentCaller() caller: Caller,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    refuseBoundCaller(caller);
    await this.logs.stream({ minLevel }, undefined, request, response);
  }
}
