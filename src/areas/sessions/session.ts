import { columnsOf } from '../../platform/database/entity-columns.js';
import { double, type RowOf, timestamp } from '../../platform/database/sql-types.js';
import { SESSION_SPENT } from '../turns/turns.api.js';
import { SessionEntity } from './session.entity.js';
import { type IdleLimits, type SessionStatus, statusAt } from './session-status.js';

export type Metadata = Readonly<Record<string, unknown>>;

/** A conversation with the agent as lists show it, at the moment it was read. */
export interface SessionSummary {
  readonly id: string;
  readonly channel: string;
  readonly userId: string;
  readonly status: SessionStatus;
  /** Null means the default model. */
  readonly model: string | null;
  readonly createdAt: Date;
  readonly lastActivity: Date;
  /** Stored user and assistant messages. */
  readonly messageCount: number;
  readonly turnCount: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface Session extends SessionSummary {
  /** The name of the agent that answers. */
  readonly agent: string;
  readonly systemPrompt: string | null;
  readonly metadata: Metadata;
  /** Model tokens, input and output, since midnight UTC. */
  readonly spentToday: number;
  /** The id of the message that has to bring the outputs of the caller's tools; null when it waits for none. */
  readonly awaitsMessageId: string | null;
}

/** How many model tokens a session may use in a day, and how many it has used today. */
export interface TokenBudget {
  readonly limit: number;
  readonly used: number;
  readonly resetsAt: Date;
}

export interface NewSession {
  readonly channel: string;
  readonly userId: string;
  /** Whether `userId` is a person's, rather than the name of the token that stands in for one. */
  readonly namesUser: boolean;
  readonly agent: string;
  readonly systemPrompt: string | null;
  readonly model: string | null;
  readonly metadata: Metadata;
}

export interface SessionFilter {
  /** `live` is active and idle together. */
  readonly status: SessionStatus | 'live' | 'all';
  readonly channel?: string | undefined;
  readonly userId?: string | undefined;
  /** Only sessions of these. */
  readonly agents?: readonly string[] | undefined;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** How many sessions match the filter, not how many are on the page. */
  readonly total: number;
}

/** Without the system prompt and the metadata, which no list shows and which may be large. */
export const SUMMARY_COLUMNS = `id, channel, user_id, status, model, created_at, last_activity, quiet_since,
  message_count, turn_count, input_tokens::float8, output_tokens::float8, now() AS read_at`;
export const SUMMARY_ROW = {
  ...columnsOf(SessionEntity, 'id', 'channel', 'userId', 'status', 'model'),
  ...columnsOf(SessionEntity, 'createdAt', 'lastActivity', 'quietSince', 'messageCount', 'turnCount'),
  ...{ input_tokens: double, output_tokens: double },
  /** The database's clock at the read: replicas whose clocks differ must not disagree about a status. */
  read_at: timestamp,
};
export type SummaryRow = RowOf<typeof SUMMARY_ROW>;

export const SESSION_COLUMNS = `${SUMMARY_COLUMNS}, agent, system_prompt, metadata, awaits_message_id, ${SESSION_SPENT}`;
export const SESSION_ROW = {
  ...SUMMARY_ROW,
  ...columnsOf(SessionEntity, 'agent', 'systemPrompt', 'metadata', 'awaitsMessageId'),
  spent_today: double,
};

export function toSession(row: RowOf<typeof SESSION_ROW>, limits: IdleLimits): Session {
  return {
    ...toSummary(row, limits),
    agent: row.agent,
    systemPrompt: row.system_prompt,
    metadata: row.metadata,
    spentToday: row.spent_today,
    awaitsMessageId: row.awaits_message_id,
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
