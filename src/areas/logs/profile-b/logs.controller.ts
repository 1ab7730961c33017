import { Get, Injectable, Query, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiHeader, ApiPropertyOptional, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import type { Response } from 'express';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Does } from '../../../http/openapi/answers.decorator.js';
import { eventModels, eventStream } from '../../../http/openapi/event-stream.schema.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import { MAX_PER_PAGE, Optional, QueryCount, Word } from '../../../http/validation/field.decorator.js';
import { parseSince, Since } from '../../../http/validation/since.decorator.js';
import { CallerDirectory } from '../../../platform/identity/caller-directory.js';
import { type LogFilter, LogStore } from '../../../platform/logging/log.store.js';
import { LOG_LEVELS, type LogLevel } from '../../../platform/logging/logger.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { LogStreams, type StreamRequest } from '../stream/log-streams.service.js';
import { refuseNarrowCaller } from '../wire/refuse-narrow-caller.js';
import { LOG_EVENTS_B, LogListViewB, presentLogListB } from './log.views.js';

const TRUTHS = ['true', 'false'] as const;

/** GET /logs/stream, Profile B (docs/specification/api.md, 4.2). */
class StreamLogsQueryB {
  @ApiPropertyOptional({ enum: LOG_LEVELS, default: 'info', description: 'Minimum level' })
  @Optional()
  @IsIn(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(', ')}` })
  level: LogLevel = 'info';
}

/** GET /logs, Profile B. */
class ListLogsQueryB extends StreamLogsQueryB {
  @ApiPropertyOptional({
    description: 'A module and everything below it, such as `channel::telegram`; defaults to all',
  })
  @Optional()
  @Word()
  module?: string;

  @Optional()
  @Since('one hour ago when left out')
  since: Date = parseSince('1h', new Date()) as Date;

  @QueryCount(100, MAX_PER_PAGE)
  limit = 100;

  @ApiPropertyOptional({
    type: 'boolean',
    default: false,
    description: 'Server-Sent Events instead of a list',
  })
  @Optional()
  @IsIn(TRUTHS, { message: 'must be true or false' })
  stream: (typeof TRUTHS)[number] = 'false';
}

/** Only for the type: the guard lets no one in without a token. */
const NO_CALLER = { tokenId: '', tokenName: '' };

/** GET /logs of Profile B is a list or a stream, as the query says. */
@Injectable()
export class LogsHandlersB {
  constructor(
    private readonly logs: LogStore,
    private readonly streams: LogStreams,
    private readonly tokens: CallerDirectory,
  ) {}

  async answer(query: ListLogsQueryB, request: GatewayRequest, response: Response): Promise<void> {
    const { level: minLevel, module, since, limit, stream } = query;
    const filter = { minLevel, module };
    if (stream === 'true') await this.stream(filter, { since, limit }, request, response);
    else response.json(presentLogListB(await this.logs.list(filter, since, limit)));
  }

  async stream(
    filter: LogFilter,
    backlog: StreamRequest['backlog'],
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    if (request.method === 'HEAD') {
      response.type('text/event-stream').end();
      return;
    }
    const { caller = NO_CALLER } = request;
    const token = request.headers.authorization?.trim().split(' ').at(-1);
    await this.streams.open({
      response,
      filter,
      backlog,
      lastEventId: request.get('last-event-id') || undefined,
      mayRead: () => this.tokens.mayGoOn(token),
      reader: caller,
    });
  }
}

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
    refuseNarrowCaller(caller);
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
    refuseNarrowCaller(caller);
    await this.logs.stream({ minLevel }, undefined, request, response);
  }
}
