import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module.js';
import { WebhookAnswers, WebhookInbound } from './adapters/webhook/webhook-inbound.service.js';
import { ApiChannel } from './api-channel.js';
import { ChannelAdapters } from './channel-adapters.js';
import { ChannelReports } from './channel-reports.service.js';
import { ChannelStateGauge } from './channel-state-gauge.js';
import { ChannelStates } from './channel-states.store.js';
import { ChannelsModule } from './channels.module.js';
import { ConversationStore } from './conversations/conversation.store.js';
import { ConversationWorker } from './conversations/conversation-worker.service.js';
import { DoneSignal } from './conversations/done-signal.js';
import { Inbox } from './inbound/inbox.store.js';
import { InboxRetention } from './inbound/inbox-retention.service.js';
import { ReplyStore } from './replies/reply.store.js';
import { ReplySender } from './replies/reply-sender.js';
import { ChannelSupervisor } from './supervision/channel-supervisor.service.js';
import { RunnerPartsFactory } from './supervision/runner-parts.js';
import { InboundController } from './wire/inbound.controller.js';

/** Runs the channels: receives, answers, and reports their state to callers. */
@Module({
  imports: [ChannelsModule, SessionsModule],
  controllers: [InboundController],
  providers: [
    ApiChannel,
    ChannelStates,
    ChannelAdapters,
    Inbox,
    InboxRetention,
    DoneSignal,
    WebhookAnswers,
    WebhookInbound,
    ConversationStore,
    ConversationWorker,
    ReplyStore,
    ReplySender,
    RunnerPartsFactory,
    ChannelSupervisor,
    ChannelReports,
    ChannelStateGauge.provider,
    ChannelStateGauge,
  ],
  exports: [ChannelReports],
})
export class ChannelReportsModule {}
