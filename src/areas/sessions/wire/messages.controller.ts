import { applyDecorators, Body, Get, Param, Post, Query, Req, Res, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiHeader, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { Response } from 'express';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { Answers, Does, Extends, Refuses } from '../../../http/openapi/answers.decorator.js';
import { eventModels, eventStream } from '../../../http/openapi/event-stream.schema.js';
import { BothProfilesController } from '../../../http/profiles/profile.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { ListMessagesQuery, SEND_EXAMPLES, SendMessageRequest } from './message.requests.js';
import { AcceptedView, HistoryView, MessageView } from './message.views.js';
import { MessagesHandlers } from './messages.handlers.js';
import { TURN_EVENTS } from './turn-events.views.js';

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  required: false,
  description:
    'With Accept: text/event-stream, the id of the last event that was seen; events go on after it',
} as const;

const RESUMED_EVENT_ID = {
  name: 'Last-Event-ID',
  required: false,
  description:
    'With Accept: text/event-stream, when the same message is sent again because its stream was cut: the id of the last ' +
    'event that was seen. Its turn goes on after it, and no second one begins. 409 when the event is of another message',
} as const;

const PREFER = {
  name: 'Prefer',
  required: false,
  description: 'respond-async: answer 202 as soon as the message is stored, also while the session is busy',
} as const;

const EXAMPLE =
  'retry: 1000\n\n' +
  'id: turn_01jd8v3q5ze0psx2w9t6m4k7ah.31.0\nevent: token\ndata: {"content":"The capital of France is Paris."}\n\n';

/** One JSON answer or, with `Accept: text/event-stream`, events. */
const AnswersOrStreams = (description: string, type: Type) =>
  applyDecorators(
    ApiExtraModels(type, ...eventModels(TURN_EVENTS)),
    ApiResponse({
      status: 200,
      description: `${description}; with Accept: text/event-stream, events`,
      content: {
        'application/json': { schema: { $ref: getSchemaPath(type) } },
        ...eventStream('TurnEvents', TURN_EVENTS, EXAMPLE),
      },
    }),
  );

/**
 * Messages (docs/specification/api.md, 4.1). The contract of Profile B does not have them
 * (docs/specification/silences.md, Profiles).
 */
@BothProfilesController('sessions/:id/messages')
export class MessagesController {
  constructor(private readonly handlers: MessagesHandlers) {}

  @Post()
  @Extends('b')
  @Does(
    'Send a message',
    "Waits for the agent's answer. With `Accept: text/event-stream` the answer comes as events while it is made; with `Prefer: respond-async` it is found in the history later.",
  )
  @RequireScope('sessions:write', 'sessions_write')
  @TakesJsonBody('max_message_body_bytes')
  @ApiBody({ type: SendMessageRequest, examples: SEND_EXAMPLES })
  @ApiHeader(PREFER)
  @ApiHeader(RESUMED_EVENT_ID)
  @AnswersOrStreams("The agent's answer", MessageView)
  @Answers(
    202,
    'With Prefer: respond-async: the message is stored, and its answer will be in the history',
    AcceptedView,
    ['Location', 'Preference-Applied'],
  )
  @Refuses(502, 504)
  send(
    @Param('id') id: string,
    @Body() body: SendMessageRequest,
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.handlers.send(id, body, caller, key, request, response);
  }

  @Get()
  @Extends('b')
  @Does(
    'Read the history',
    'Oldest first within a page; `before` leads to the pages before. With `Accept: text/event-stream`: the events of the running turn and of every later one, until the reader leaves.',
  )
  @RequireScope('sessions:read', 'sessions_read')
  @ApiHeader(LAST_EVENT_ID)
  @AnswersOrStreams('A page of the history, oldest first', HistoryView)
  list(
    @Param('id') id: string,
    @Query() query: ListMessagesQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.handlers.history(id, query, caller, request, response);
  }
}
