import { Module } from '@nestjs/common';
import { AgentModule } from '../agent/agent.module.js';
import { ChannelsModule } from '../channels/channels.module.js';
import { MessageStore } from './message.store.js';
import { MessagesService } from './messages.service.js';
import { RunningTurns } from './running-turns.js';
import { SessionStore } from './session.store.js';
import { SessionSweeper } from './session-sweeper.service.js';
import { SessionsService } from './sessions.service.js';
import { TurnStore } from './turn.store.js';
import { TurnLine } from './turn-line.service.js';
import { TurnWatch } from './turn-watch.service.js';
import { TurnsService } from './turns.service.js';
import { MessagesHandlers } from './wire/messages.handlers.js';

/** Sessions, their messages and the turns that answer them. */
@Module({
  imports: [AgentModule, ChannelsModule],
  providers: [
    SessionStore,
    MessageStore,
    TurnStore,
    SessionsService,
    MessagesService,
    MessagesHandlers,
    RunningTurns,
    TurnLine,
    TurnsService,
    TurnWatch,
    SessionSweeper,
  ],
  exports: [SessionsService, MessagesHandlers, RunningTurns],
})
export class SessionsModule {}
