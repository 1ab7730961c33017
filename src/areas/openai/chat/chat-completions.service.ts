import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/tokens/caller.js';
import { SessionsService } from '../../sessions/sessions.api.js';
import { AttachmentFetcher, type UnstoredTurn, UnstoredTurns } from '../../turns/turns.api.js';
import type { ChatRequest } from '../requests/chat-request.js';
import type { CompleteAttachments } from '../requests/content.js';
import { conversationOf } from '../requests/conversation.js';
import { refuseTooLong } from '../requests/shared-parameters.js';
import { ServedModels } from '../served-models.service.js';

/** What chat completions and responses request alike. */
export type AskedConversation = Pick<
  ChatRequest,
  'model' | 'user' | 'messages' | 'options' | 'limitName' | 'held'
>;

/** Requests whose messages are the whole conversation: only their usage is stored. */
@Injectable()
export class ChatCompletions {
  constructor(
    private readonly models: ServedModels,
    private readonly sessions: SessionsService,
    private readonly turns: UnstoredTurns,
    private readonly fetcher: AttachmentFetcher,
  ) {}

  /**
   * @param param the name of the parameter with the conversation. Throws `ModelNotFound`, `InvalidParameter`,
   * `TurnLimitReached`
   */
  async start(asked: AskedConversation, caller: Caller, param = 'messages'): Promise<UnstoredTurn> {
    const userId = this.sessions.userOf(asked.user, caller);
    const { agent, model } = this.models.find(asked.model, caller, userId);
    const { options } = asked;
    refuseTooLong(agent.maxOutputTokens, options.maxOutputTokens, asked.limitName);
    const complete: CompleteAttachments = (given) => this.fetcher.complete(given, asked.held);
    const messages = await conversationOf(asked.messages, complete, param);
    return this.turns.start({ agent, model, userId, caller, messages, options });
  }
}
