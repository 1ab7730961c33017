import { Body, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { RequireScope } from '../../edge/access.decorator.js';
import { Answers } from '../../edge/answers.decorator.js';
import { TheCaller } from '../../edge/caller.decorator.js';
import { TakesJsonBody } from '../../edge/takes-body.decorator.js';
import { ProfileBController } from '../../profiles/profile.js';
import type { Caller } from '../../tokens/caller.js';
import { ListMessagesQuery, SendMessageRequest } from '../wire/message.requests.js';
import { HistoryView, MessageView } from '../wire/message.views.js';
import { MessagesHandlers } from '../wire/messages.handlers.js';

/** Messages in Profile B: an extension of the specification (decisions, section 1). */
@ProfileBController('sessions/:id/messages')
export class MessagesControllerB {
  constructor(private readonly handlers: MessagesHandlers) {}

  @Post()
  @HttpCode(200)
  @RequireScope('sessions:write', 'sessions_write')
  @TakesJsonBody('max_message_body_bytes')
  @ApiExtension('x-extension', true)
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
  @ApiExtension('x-extension', true)
  @Answers(200, 'A page of the history, oldest first', HistoryView)
  list(
    @Param('id') id: string,
    @Query() query: ListMessagesQuery,
    @TheCaller() caller: Caller,
  ): Promise<HistoryView> {
    return this.handlers.history(id, query, caller);
  }
}
