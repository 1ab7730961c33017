import { Module } from '@nestjs/common';
import { AgentModule } from '../agent/agent.module.js';
import { ChannelsModule } from '../channels/channels.module.js';
import { TokenEndings } from '../tokens/token-endings.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { AcceptedTurns } from './accepted/accepted-turns.service.js';
import { AcceptedTurnsStore } from './accepted/accepted-turns.store.js';
import { WaitingOfToken } from './accepted/waiting-of-token.js';
import { AttachmentFetcher } from './attachments/attachment-fetcher.js';
import { TurnPlaces } from './limits/turn-places.js';
import { TurnRefusals, turnRefusalMetric } from './limits/turn-refusals.js';
import { PastTurns } from './live/past-turns.js';
import { FeedReader } from './live/remote/feed-reader.service.js';
import { RemoteTurnsStore } from './live/remote/remote-turns.store.js';
import { SessionFeeds } from './live/remote/session-feeds.service.js';
import { TurnRelays } from './live/remote/turn-relays.service.js';
import { ResumedTurns } from './live/resumed-turns.service.js';
import { SessionSockets } from './live/session-sockets.port.js';
import { SessionViews } from './live/session-views.service.js';
import { TurnHub } from './live/turn-hub.js';
import { TurnRecords } from './live/turn-records.store.js';
import { Viewers } from './live/viewers.service.js';
import { MessageStore } from './message.store.js';
import { MessagesService } from './messages.service.js';
import { RunningTurns } from './running-turns.js';
import { SessionStore } from './session.store.js';
import { SessionRetention } from './session-retention.service.js';
import { SessionSweeper } from './session-sweeper.service.js';
import { SessionsService } from './sessions.service.js';
import { ToolAnswers } from './tool-answers.service.js';
import { TurnStore } from './turn.store.js';
import { TurnEndingsStore } from './turn-endings.store.js';
import { TurnLeases } from './turn-leases.store.js';
import { TurnLine } from './turn-line.service.js';
import { TurnLog } from './turn-log.js';
import { TurnMetrics, turnMetricProviders } from './turn-metrics.js';
import { TurnPrompt } from './turn-prompt.js';
import { TurnResults } from './turn-results.store.js';
import { TurnStarter } from './turn-starter.service.js';
import { TurnWatch } from './turn-watch.service.js';
import { TurnsService } from './turns.service.js';
import { MessagesHandlers } from './wire/messages.handlers.js';
import { Handshake } from './wire/socket/handshake.service.js';
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
    TurnPlaces,
    turnRefusalMetric,
    TurnRefusals,
    TurnLine,
    ...turnMetricProviders,
    TurnMetrics,
    TurnLog,
    TurnPrompt,
    TurnsService,
    TurnStarter,
    AcceptedTurnsStore,
    AcceptedTurns,
    WaitingOfToken,
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
  constructor(endings: TokenEndings, waiting: WaitingOfToken) {
    endings.add(waiting);
  }
}
