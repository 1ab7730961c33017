import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { TeamsFileConsents } from './adapters/teams/teams-file-consents.service.js';
import { TeamsInbound } from './adapters/teams/teams-inbound.service.js';
import { AnswerRoom } from './adapters/webhook/answer-room.js';
import { WebhookAnswers, WebhookInbound } from './adapters/webhook/webhook-inbound.service.js';
import { ApprovalCards } from './approvals/approval-cards.service.js';
import { ApprovalCardStore } from './approvals/approval-cards.store.js';
import { ApprovalClicks } from './approvals/approval-clicks.service.js';
import { ChannelApprovalEntity } from './approvals/channel-approval.entity.js';
import { ChannelReplyEntity, ChannelStateEntity } from './channel.entities.js';
import { ChannelActivity } from './channel-activity.js';
import { ChannelAdapters } from './channel-adapters.js';
import { ApiChannel } from './channel-kinds.js';
import { ChannelReports, ChannelStateGauge } from './channel-reports.service.js';
import { ChannelStates } from './channel-states.store.js';
import { ChannelQuestions } from './conversations/channel-questions.js';
import { ConversationStore } from './conversations/conversation.store.js';
import { DoneSignal } from './conversations/conversation-run.js';
import { ConversationWorker } from './conversations/conversation-worker.service.js';
import { Inbox, InboxRetention } from './inbound/inbox.store.js';
import { MessageFiles } from './inbound/message-files.js';
import { ReplyStore } from './replies/reply.store.js';
import { ReplySender } from './replies/reply-sender.js';
import { RunnerPartsFactory } from './supervision/channel-runner.js';
import { ChannelSupervisor } from './supervision/channel-supervisor.service.js';
import { InboundController } from './wire/inbound.controller.js';
import { TeamsController } from './wire/teams.controller.js';

/** Channels: which replica receives, how messages are answered, and what callers see of it. */
@Module({
  imports: [
    ...[SessionsModule, ToolsModule, TurnsModule],
    TypeOrmModule.forFeature([ChannelStateEntity, ChannelReplyEntity, ChannelApprovalEntity]),
  ],
  controllers: [InboundController, TeamsController],
  providers: [
    ChannelActivity,
    ApiChannel,
    ChannelStates,
    ChannelAdapters,
    Inbox,
    InboxRetention,
    MessageFiles,
    DoneSignal,
    ApprovalCardStore,
    ApprovalCards,
    ApprovalClicks,
    AnswerRoom,
    WebhookAnswers,
    WebhookInbound,
    TeamsFileConsents,
    TeamsInbound,
    ConversationStore,
    ChannelQuestions,
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
export class ChannelsModule {}
