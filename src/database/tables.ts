import { ToolApprovalEntity } from '../agent/tool-approval.entity.js';
import { AuditEntryEntity } from '../audit/audit-entry.entity.js';
import { ChannelStateEntity } from '../channels/channel-state.entity.js';
import { ConversationEntity } from '../channels/conversations/conversation.entity.js';
import { ChannelMessageEntity } from '../channels/inbound/channel-message.entity.js';
import { ChannelReplyEntity } from '../channels/replies/channel-reply.entity.js';
import { ConfigChangeEntity } from '../config/config-change.entity.js';
import { ConfigOverrideEntity } from '../config/config-override.entity.js';
import { IdempotencyKeyEntity } from '../edge/idempotency/idempotency-key.entity.js';
import { EventEntity } from '../events/event.entity.js';
import { HookEntity } from '../hooks/hook.entity.js';
import { HookDeliveryEntity } from '../hooks/hook-delivery.entity.js';
import { HookLaneEntity } from '../hooks/hook-lane.entity.js';
import { LogEntryEntity } from '../logs/log-entry.entity.js';
import { McpToolEntity } from '../mcp/tools/mcp-tool.entity.js';
import { MemoryEntryEntity } from '../memory/memory-entry.entity.js';
import { MemoryUserEntity, MemoryWordEntity } from '../memory/memory-tallies.entity.js';
import { PluginStateEntity } from '../plugins/state/plugin-state.entity.js';
import { RateBucketEntity } from '../rate-limits/rate-bucket.entity.js';
import { MasterKeyCheckEntity } from '../secrets/master-key-check.entity.js';
import { AttachmentEntity } from '../sessions/attachment.entity.js';
import { TokenSpendingEntity } from '../sessions/limits/token-spending.entity.js';
import { TokenStorageEntity } from '../sessions/limits/token-storage.entity.js';
import { SessionAudienceEntity } from '../sessions/live/remote/session-audience.entity.js';
import { TurnFrameEntity } from '../sessions/live/remote/turn-frame.entity.js';
import { MessageEntity } from '../sessions/message.entity.js';
import { SessionEntity } from '../sessions/session.entity.js';
import { TurnEntity } from '../sessions/turn.entity.js';
import { ApiTokenEntity } from '../tokens/api-token.entity.js';

/** Every table that TypeORM knows; the drift check compares them with the database. */
export const tables = [
  ApiTokenEntity,
  RateBucketEntity,
  SessionEntity,
  MessageEntity,
  AttachmentEntity,
  TurnEntity,
  SessionAudienceEntity,
  TurnFrameEntity,
  IdempotencyKeyEntity,
  TokenSpendingEntity,
  TokenStorageEntity,
  ConfigOverrideEntity,
  ConfigChangeEntity,
  ChannelStateEntity,
  ConversationEntity,
  ChannelMessageEntity,
  ChannelReplyEntity,
  LogEntryEntity,
  HookEntity,
  HookLaneEntity,
  HookDeliveryEntity,
  EventEntity,
  McpToolEntity,
  PluginStateEntity,
  ToolApprovalEntity,
  MemoryEntryEntity,
  MemoryUserEntity,
  MemoryWordEntity,
  AuditEntryEntity,
  MasterKeyCheckEntity,
];
