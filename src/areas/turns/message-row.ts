import { columnsOf } from '../../platform/database/entity-columns.js';
import { integer, json, nullable, oneOf, type RowOf } from '../../platform/database/sql-types.js';
import type { FinishReason } from '../models/models.api.js';
import type { ToolCallRecord } from '../tools/tools.api.js';
import { MessageEntity } from './message.entity.js';
import type { AttachmentInfo, MessageRole, PlacedMessage } from './message.js';
import type { TurnFailure } from './turn-lease.js';

export const MESSAGE_ROW = {
  ...columnsOf(MessageEntity, 'id', 'content', 'tokensUsed', 'model', 'usageEstimated', 'createdAt'),
  ...{ seq: integer, role: oneOf<MessageRole>(), incomplete: nullable(oneOf<TurnFailure>()) },
  ...{ tool_calls: json<ToolCallRecord[]>(), attachments: json<AttachmentInfo[]>() },
  finish_reason: nullable(oneOf<FinishReason>()),
};
export type MessageRow = RowOf<typeof MESSAGE_ROW>;

export const MESSAGE_COLUMNS =
  'id, seq, role, content, tool_calls, attachments, tokens_used, model, incomplete, finish_reason, usage_estimated, created_at';

export function toMessage(row: MessageRow): PlacedMessage {
  return {
    id: row.id,
    seq: row.seq,
    role: row.role,
    content: row.content,
    attachments: row.attachments,
    toolCalls: row.tool_calls,
    tokensUsed: row.tokens_used,
    model: row.model,
    incomplete: row.incomplete,
    finishReason: row.finish_reason,
    usageEstimated: row.usage_estimated,
    createdAt: row.created_at,
  };
}

/** The columns of a `HistoryMessage` under its own names, so that a turn uses the rows as they are. */
export const HISTORY_COLUMNS = 'id, seq, role, content, attachments, tool_calls AS "toolCalls", incomplete';
