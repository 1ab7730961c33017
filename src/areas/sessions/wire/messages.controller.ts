import { Body, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiHeader } from '@nestjs/swagger';
import type { Response } from 'express';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { Answers, Does, Extends, Refuses } from '../../../http/openapi/answers.decorator.js';
import { BothProfilesController } from '../../../http/profiles/profile.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { AnswersOrStreams, LAST_EVENT_ID, PREFER, RESUMED_EVENT_ID } from './answers-or-streams.decorator.js';
import { ListMessagesQuery, SEND_EXAMPLES, SendMessageRequest } from './message.requests.js';
import { AcceptedView, HistoryView, MessageView } from './message.views.js';
import { MessagesHandlers } from './messages.handlers.js';

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
