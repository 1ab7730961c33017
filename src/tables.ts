import { AssertionKeyEntity } from './areas/assertions/assertion-key.entity.js';
import { ChannelApprovalEntity } from './areas/channels/approvals/channel-approval.entity.js';
import {
  ChannelMessageEntity,
  ChannelReplyEntity,
  ChannelStateEntity,
  ConversationEntity,
} from './areas/channels/channel.entities.js';
import { ConfigChangeEntity, ConfigOverrideEntity } from './areas/config/config.entities.js';
import { HookDeliveryEntity, HookEntity, HookLaneEntity } from './areas/hooks/hook.entity.js';
import { ErasedFolderEntity } from './areas/mcp/sandbox/erased-folder.entity.js';
import { McpSignInEntity } from './areas/mcp/sign-in/sign-in.entity.js';
import { McpToolEntity } from './areas/mcp/tools/mcp-tool.entity.js';
import { MemoryEntryEntity, MemoryUserEntity, MemoryWordEntity } from './areas/memory/memory.entity.js';
import { ModelCooldownEntity } from './areas/models/model-cooldown.entity.js';
import { StoredResponseEntity } from './areas/openai/stored/stored-response.entity.js';
import { PluginStateEntity } from './areas/plugins/plugin-state.entity.js';
import { SessionEntity } from './areas/sessions/session.entity.js';
import { ReplicaEntity } from './areas/status/replicas/replica.entity.js';
import { ToolQuestionEntity } from './areas/tools/questions/tool-question.entity.js';
import { ToolApprovalEntity } from './areas/tools/tool-approval.entity.js';
import { TokenSpendingEntity, TokenStorageEntity } from './areas/turns/limits/token-limits.entities.js';
import { AttachmentEntity, MessageEntity } from './areas/turns/message.entity.js';
import { ConversationSummaryEntity } from './areas/turns/prompt/conversation-summary.entity.js';
import { SessionAudienceEntity, TurnFrameEntity } from './areas/turns/relay/relay.entities.js';
import { TurnEntity } from './areas/turns/turn.entity.js';
import { TurnFileEntity } from './areas/turns/turn-file.entity.js';
import { TurnStepEntity } from './areas/turns/turn-step.entity.js';
import {
  BudgetNoticeEntity,
  BudgetSpendingEntity,
  UsageDayEntity,
  UsageEntryEntity,
} from './areas/usage/usage.entities.js';
import { IdempotencyKeyEntity } from './http/idempotency/idempotency-key.entity.js';
import { AuditEntryEntity } from './platform/audit-log/audit-entry.entity.js';
import {
  AuditCheckpointEntity,
  AuditSealEntity,
  AuditUnsealedEntity,
} from './platform/audit-log/audit-seal.entities.js';
import { EventEntity } from './platform/events/event.entity.js';
import { IdentityDenialEntity } from './platform/identity/identity-denial.entity.js';
import { LogEntryEntity } from './platform/logging/log-entry.entity.js';
import { RateBucketEntity } from './platform/rate-limits/rate-bucket.entity.js';
import { MasterKeyCheckEntity } from './platform/secrets/master-key-check.entity.js';
import { ApiTokenEntity } from './platform/tokens/api-token.entity.js';

/** Every table that TypeORM knows; the drift check compares them with the database. */
export const tables = [
  ApiTokenEntity,
  ErasedFolderEntity,
  IdentityDenialEntity,
  RateBucketEntity,
  SessionEntity,
  MessageEntity,
  AttachmentEntity,
  TurnEntity,
  TurnStepEntity,
  StoredResponseEntity,
  TurnFileEntity,
  ConversationSummaryEntity,
  SessionAudienceEntity,
  TurnFrameEntity,
  IdempotencyKeyEntity,
  TokenSpendingEntity,
  TokenStorageEntity,
  UsageEntryEntity,
  UsageDayEntity,
  BudgetSpendingEntity,
  BudgetNoticeEntity,
  ConfigOverrideEntity,
  ConfigChangeEntity,
  ChannelStateEntity,
  ConversationEntity,
  ChannelMessageEntity,
  ChannelReplyEntity,
  ChannelApprovalEntity,
  LogEntryEntity,
  HookEntity,
  HookLaneEntity,
  HookDeliveryEntity,
  EventEntity,
  McpToolEntity,
  McpSignInEntity,
  ModelCooldownEntity,
  AssertionKeyEntity,
  PluginStateEntity,
  ToolApprovalEntity,
  ToolQuestionEntity,
  MemoryEntryEntity,
  MemoryUserEntity,
  MemoryWordEntity,
  AuditEntryEntity,
  AuditSealEntity,
  AuditUnsealedEntity,
  AuditCheckpointEntity,
  MasterKeyCheckEntity,
  ReplicaEntity,
];
