import { Injectable } from '@nestjs/common';
import type { Caller } from '../../tokens/caller.js';
import { MessagesService } from '../messages.service.js';
import type { ListMessagesQuery, SendMessageRequest } from './message.requests.js';
import { type HistoryView, type MessageView, presentHistory, presentMessage } from './message.views.js';
import { newUserMessage } from './new-user-message.js';

/** The two message operations, which are the same on the wire of both profiles (decisions, section 1). */
@Injectable()
export class MessagesHandlers {
  constructor(private readonly messages: MessagesService) {}

  async send(sessionId: string, body: SendMessageRequest, caller: Caller): Promise<MessageView> {
    return presentMessage(await this.messages.send(sessionId, newUserMessage(body), caller));
  }

  async history(sessionId: string, query: ListMessagesQuery, caller: Caller): Promise<HistoryView> {
    return presentHistory(await this.messages.history(sessionId, query, caller));
  }
}
