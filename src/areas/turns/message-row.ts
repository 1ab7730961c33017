import type { FinishReason } from '../models/models.api.js';
import type { ToolCallRecord } from '../tools/tools.api.js';
import type { AttachmentInfo, MessageRole, PlacedMessage } from './message.js';
import type { TurnFailure } from './turn-lease.js';

export interface MessageRow {
  id: string;
  seq: number;
  role: MessageRole;
  content: string;
  tool_calls: ToolCallRecord[];
  attachments: AttachmentInfo[];
  tokens_used: number;
  model: string | null;
  incomplete: TurnFailure | null;
  finish_reason: FinishReason | null;
  usage_estimated: boolean;
  /** Text where the row comes out of JSON. */
  created_at: Date | string;
}

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
    createdAt: typeof row.created_at === 'string' ? new Date(row.created_at) : row.created_at,
  };
}

/** What makes a `HistoryMessage`, so that a turn begins without making each anew. */
export const HISTORY_COLUMNS = 'id, seq, role, content, attachments, tool_calls AS "toolCalls", incomplete';
