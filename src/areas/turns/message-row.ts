import {
  boolean,
  integer,
  json,
  nullable,
  oneOf,
  type RowOf,
  text,
  timestamp,
} from '../../platform/database/sql-types.js';
import type { FinishReason } from '../models/models.api.js';
import type { ToolCallRecord } from '../tools/tools.api.js';
import type { AttachmentInfo, MessageRole, PlacedMessage } from './message.js';
import type { TurnFailure } from './turn-lease.js';

export const MESSAGE_ROW = {
  ...{ id: text, seq: integer, role: oneOf<MessageRole>(), content: text },
  ...{ tool_calls: json<ToolCallRecord[]>(), attachments: json<AttachmentInfo[]>() },
  ...{ tokens_used: integer, model: nullable(text), incomplete: nullable(oneOf<TurnFailure>()) },
  ...{ finish_reason: nullable(oneOf<FinishReason>()), usage_estimated: boolean, created_at: timestamp },
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

/** What makes a `HistoryMessage`, so that a turn begins without making each anew. */
export const HISTORY_COLUMNS = 'id, seq, role, content, attachments, tool_calls AS "toolCalls", incomplete';
