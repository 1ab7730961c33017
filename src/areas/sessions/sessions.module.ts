import { Module } from '@nestjs/common';
import { IdentityModule } from '../../platform/identity/identity.module.js';
import { TokensModule } from '../../platform/tokens/tokens.module.js';
import { LiveModule } from '../live/live.module.js';
import { ModelsModule } from '../models/models.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { Approvals } from './approvals.service.js';
import { AskerRule } from './asker-rule.js';
import { ChannelDirectory } from './channel-directory.js';
import { MessagesService } from './messages.service.js';
import { Questions } from './questions.service.js';
import { SessionStore } from './session.store.js';
import { SessionSearch } from './session-search.service.js';
import { SessionRetention, SessionSweeper } from './session-sweeper.service.js';
import { SessionsService } from './sessions.service.js';
import { ToolAnswers } from './tool-answers.service.js';
import { MessagesHandlers } from './wire/messages.handlers.js';
import { Handshake } from './wire/socket/handshake.service.js';
import { SessionSockets } from './wire/socket/session-sockets.service.js';

/** Sessions, and what their callers ask of them: messages, streams, the WebSocket. */
@Module({
  imports: [ModelsModule, ToolsModule, TurnsModule, LiveModule, IdentityModule, TokensModule],
  providers: [
    ChannelDirectory,
    SessionStore,
    SessionsService,
    MessagesService,
    MessagesHandlers,
    ToolAnswers,
    Approvals,
    AskerRule,
    Questions,
    SessionSearch,
    Handshake,
    SessionSockets,
    SessionSweeper,
    SessionRetention,
  ],
  exports: [
    Approvals,
    Questions,
    SessionSearch,
    ChannelDirectory,
    SessionsService,
    MessagesService,
    MessagesHandlers,
    SessionSockets,
  ],
})
export class SessionsModule {}
