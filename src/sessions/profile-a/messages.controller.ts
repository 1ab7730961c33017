import { Body, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Response } from 'express';
import { RequireScope } from '../../edge/access.decorator.js';
import { Answers } from '../../edge/answers.decorator.js';
import { TheCaller } from '../../edge/caller.decorator.js';
import type { GatewayRequest } from '../../edge/gateway-request.js';
import type { RequestKey } from '../../edge/idempotency/request-key.js';
import { TheKey } from '../../edge/idempotency/the-key.decorator.js';
import { TakesJsonBody } from '../../edge/takes-body.decorator.js';
import { ProfileAController } from '../../profiles/profile.js';
import type { Caller } from '../../tokens/caller.js';
import { AnswersOrStreams, LAST_EVENT_ID, PREFER } from '../wire/answers-or-streams.decorator.js';
import { ListMessagesQuery, SendMessageRequest } from '../wire/message.requests.js';
import { AcceptedView, HistoryView, MessageView } from '../wire/message.views.js';
import { MessagesHandlers } from '../wire/messages.handlers.js';

/** Messages in Profile A (specification 4.1). */
@ProfileAController('sessions/:id/messages')
export class MessagesControllerA {
  constructor(private readonly handlers: MessagesHandlers) {}

  @Post()
  @RequireScope('sessions:write', 'sessions_write')
  @TakesJsonBody('max_message_body_bytes')
  @ApiHeader(PREFER)
  @AnswersOrStreams("The agent's answer", MessageView)
  @Answers(
    202,
    'With Prefer: respond-async: the message is stored, and its answer will be in the history',
    AcceptedView,
  )
  send(
    @Param('id') id: string,
    @Body() body: SendMessageRequest,
    @TheCaller() caller: Caller,
    @TheKey() key: RequestKey | undefined,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.handlers.send(id, body, caller, key, request, response);
  }

  @Get()
  @RequireScope('sessions:read', 'sessions_read')
  @ApiHeader(LAST_EVENT_ID)
  @AnswersOrStreams('A page of the history, oldest first', HistoryView)
  list(
    @Param('id') id: string,
    @Query() query: ListMessagesQuery,
    @TheCaller() caller: Caller,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.handlers.history(id, query, caller, request, response);
  }
}
