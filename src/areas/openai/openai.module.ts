import { Module } from '@nestjs/common';
import { IdentityModule } from '../../platform/identity/identity.module.js';
import { LiveModule } from '../live/live.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { ChatCompletions } from './chat/chat-completions.service.js';
import { ServedModels } from './served-models.service.js';
import { ConversationHandler } from './wire/conversation.handler.js';
import { ModelsHandler } from './wire/models.handler.js';

/** The gateway as clients of OpenAI's API know one. */
@Module({
  imports: [ModelsModule, TurnsModule, LiveModule, SessionsModule, IdentityModule],
  providers: [ServedModels, ChatCompletions, ModelsHandler, ConversationHandler],
  exports: [ModelsHandler, ConversationHandler],
})
export class OpenAiModule {}
