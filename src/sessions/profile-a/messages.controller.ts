import { Body, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { RequireScope } from '../../edge/access.decorator.js';
import { Answers } from '../../edge/answers.decorator.js';
import { TheCaller } from '../../edge/caller.decorator.js';
import { TakesJsonBody } from '../../edge/takes-body.decorator.js';
import { ProfileAController } from '../../profiles/profile.js';
import type { Caller } from '../../tokens/caller.js';
import { ListMessagesQuery, SendMessageRequest } from '../wire/message.requests.js';
import { HistoryView, MessageView } from '../wire/message.views.js';
import { MessagesHandlers } from '../wire/messages.handlers.js';

/** Messages in Profile A (specification 4.1). */
@ProfileAController('sessions/:id/messages')
export class MessagesControllerA {
  constructor(private readonly handlers: MessagesHandlers) {}

  @Post()
  @HttpCode(200)
  @RequireScope('sessions:write', 'sessions_write')
  @TakesJsonBody('max_message_body_bytes')
  @Answers(200, "The agent's answer", MessageView)
  send(
    @Param('id') id: string,
    @Body() body: SendMessageRequest,
    @TheCaller() caller: Caller,
  ): Promise<MessageView> {
    return this.handlers.send(id, body, caller);
  }

  @Get()
  @RequireScope('sessions:read', 'sessions_read')
  @Answers(200, 'A page of the history, oldest first', HistoryView)
  list(
    @Param('id') id: string,
    @Query() query: ListMessagesQuery,
    @TheCaller() caller: Caller,
  ): Promise<HistoryView> {
    return this.handlers.history(id, query, caller);
  }
}
