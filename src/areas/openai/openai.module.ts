import { Module } from '@nestjs/common';
import { IdentityModule } from '../../platform/identity/identity.module.js';
import { LiveModule } from '../live/live.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { ChatCompletions } from './chat/chat-completions.service.js';
import { ContinuedSessions } from './chat/continued-sessions.service.js';
import { ServedModels } from './served-models.service.js';
import { InputItems } from './stored/input-items.service.js';
import { InputItemsStore } from './stored/input-items.store.js';
import { ItemReferences } from './stored/item-references.js';
import { ResponseStarter } from './stored/response-starter.service.js';
import { StoredResponseStore } from './stored/stored-response.store.js';
import { StoredResponses } from './stored/stored-responses.service.js';
import { ChatHandler } from './wire/chat.handler.js';
import { ConversationHandler } from './wire/conversation.handler.js';
import { EventViewers } from './wire/event-viewers.service.js';
import { InputItemsHandler } from './wire/input-items.handler.js';
import { ModelsHandler } from './wire/models.handler.js';
import { ResponsesHandler } from './wire/responses.handler.js';

/** The gateway as clients of OpenAI's API see it. */
@Module({
  imports: [ModelsModule, TurnsModule, LiveModule, SessionsModule, IdentityModule],
  providers: [
    ServedModels,
    ChatCompletions,
    ModelsHandler,
    EventViewers,
    ConversationHandler,
    ContinuedSessions,
    ChatHandler,
    StoredResponseStore,
    StoredResponses,
    InputItemsStore,
    InputItems,
    InputItemsHandler,
    ItemReferences,
    ResponseStarter,
    ResponsesHandler,
  ],
  exports: [ModelsHandler, ChatHandler, ResponsesHandler, InputItemsHandler],
})
export class OpenAiModule {}
