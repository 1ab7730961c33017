import { SESSION_SPENT } from '../turns/turns.api.js';
import type { Metadata, Session, SessionSummary } from './session.js';
import { type IdleLimits, type SessionStatus, statusAt } from './session-status.js';

export interface SummaryRow {
  id: string;
  channel: string;
  user_id: string;
  status: SessionStatus;
  model: string | null;
  created_at: Date;
  last_activity: Date;
  quiet_since: Date;
  message_count: number;
  turn_count: number;
  input_tokens: number;
  output_tokens: number;
  /** The database's clock at the read: replicas with other clocks must not disagree on a status. */
  read_at: Date;
}

export interface SessionRow extends SummaryRow {
  spent_today: number;
  system_prompt: string | null;
  metadata: Metadata;
}

/** Without the system prompt and the metadata, which no list shows and which may be large. */
export const SUMMARY_COLUMNS = `id, channel, user_id, status, model, created_at, last_activity, quiet_since,
  message_count, turn_count, input_tokens::float8, output_tokens::float8, now() AS read_at`;
export const SESSION_COLUMNS = `${SUMMARY_COLUMNS}, system_prompt, metadata, ${SESSION_SPENT}`;

export function toSession(row: SessionRow, limits: IdleLimits): Session {
  return {
    ...toSummary(row, limits),
    systemPrompt: row.system_prompt,
    metadata: row.metadata,
    spentToday: row.spent_today,
  };
}

export function toSummary(row: SummaryRow, limits: IdleLimits): SessionSummary {
  return {
    id: row.id,
    channel: row.channel,
    userId: row.user_id,
    status: statusAt({ recorded: row.status, quietSince: row.quiet_since }, row.read_at.getTime(), limits),
    model: row.model,
    createdAt: row.created_at,
    lastActivity: row.last_activity,
    messageCount: row.message_count,
    turnCount: row.turn_count,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
  };
}
