import { Module } from '@nestjs/common';
import { TokenEndings } from '../../platform/tokens/token-endings.js';
import { TokensModule } from '../../platform/tokens/tokens.module.js';
import { ChannelsModule } from '../channels/channels.module.js';
import { PastTurns } from '../live/past-turns.js';
import { FeedReader } from '../live/remote/feed-reader.service.js';
import { RemoteTurnsStore } from '../live/remote/remote-turns.store.js';
import { SessionFeeds } from '../live/remote/session-feeds.service.js';
import { TurnRelays } from '../live/remote/turn-relays.service.js';
import { ResumedTurns } from '../live/resumed-turns.service.js';
import { SessionViews } from '../live/session-views.service.js';
import { TurnRecords } from '../live/turn-records.store.js';
import { Viewers } from '../live/viewers.service.js';
import { AcceptedTurns } from '../turns/accepted/accepted-turns.service.js';
import { AcceptedTurnsStore } from '../turns/accepted/accepted-turns.store.js';
import { TokenWaitingTurns } from '../turns/accepted/token-waiting-turns.js';
import { AgentModule } from '../turns/agent.module.js';
import { AttachmentFetcher } from '../turns/attachments/attachment-fetcher.js';
import { TurnRefusals, turnRefusalMetric } from '../turns/limits/turn-refusals.js';
import { TurnSlots } from '../turns/limits/turn-slots.js';
import { MessageStore } from '../turns/message.store.js';
import { RunningTurns } from '../turns/running-turns.js';
import { TurnStore } from '../turns/turn.store.js';
import { TurnEndingsStore } from '../turns/turn-endings.store.js';
import { TurnHub } from '../turns/turn-hub.js';
import { TurnLeases } from '../turns/turn-leases.store.js';
import { TurnLog } from '../turns/turn-log.js';
import { TurnMetrics, turnMetricProviders } from '../turns/turn-metrics.js';
import { TurnPrompt } from '../turns/turn-prompt.js';
import { TurnQueue } from '../turns/turn-queue.service.js';
import { TurnResults } from '../turns/turn-results.store.js';
import { TurnStarter } from '../turns/turn-starter.service.js';
import { TurnWatch } from '../turns/turn-watch.service.js';
import { TurnsService } from '../turns/turns.service.js';
import { MessagesService } from './messages.service.js';
import { SessionStore } from './session.store.js';
import { SessionRetention } from './session-retention.service.js';
import { SessionSweeper } from './session-sweeper.service.js';
import { SessionsService } from './sessions.service.js';
import { ToolAnswers } from './tool-answers.service.js';
import { MessagesHandlers } from './wire/messages.handlers.js';
import { Handshake } from './wire/socket/handshake.service.js';
import { SessionSockets } from './wire/socket/session-sockets.port.js';
import { SessionSocketsService } from './wire/socket/session-sockets.service.js';

/** Sessions, their messages and the turns that answer them. */
@Module({
  imports: [AgentModule, ChannelsModule, TokensModule],
  providers: [
    SessionStore,
    MessageStore,
    TurnStore,
    TurnLeases,
    TurnEndingsStore,
    TurnResults,
    TurnRecords,
    SessionsService,
    MessagesService,
    MessagesHandlers,
    ToolAnswers,
    RunningTurns,
    TurnHub,
    RemoteTurnsStore,
    TurnRelays,
    FeedReader,
    SessionFeeds,
    PastTurns,
    SessionViews,
    ResumedTurns,
    Viewers,
    Handshake,
    { provide: SessionSockets, useClass: SessionSocketsService },
    AttachmentFetcher,
    TurnSlots,
    turnRefusalMetric,
    TurnRefusals,
    TurnQueue,
    ...turnMetricProviders,
    TurnMetrics,
    TurnLog,
    TurnPrompt,
    TurnsService,
    TurnStarter,
    AcceptedTurnsStore,
    AcceptedTurns,
    TokenWaitingTurns,
    TurnWatch,
    SessionSweeper,
    SessionRetention,
  ],
  exports: [
    SessionsService,
    MessagesService,
    MessagesHandlers,
    RunningTurns,
    TurnResults,
    Viewers,
    SessionSockets,
  ],
})
export class SessionsModule {
  constructor(endings: TokenEndings, waiting: TokenWaitingTurns) {
    endings.add(waiting);
  }
}
