import type { SessionStatus } from './session-status.js';

export type Metadata = Readonly<Record<string, unknown>>;

/** A conversation with the agent as lists show it, at the moment it was read. */
export interface SessionSummary {
  readonly id: string;
  readonly channel: string;
  readonly userId: string;
  readonly status: SessionStatus;
  /** Null takes the default model. */
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
  readonly systemPrompt: string | null;
  readonly metadata: Metadata;
  /** Model tokens, in and out, since midnight UTC. */
  readonly spentToday: number;
}

/** How much a session may use a day, and has used. */
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
  readonly systemPrompt: string | null;
  readonly model: string | null;
  readonly metadata: Metadata;
}

export interface SessionFilter {
  /** `live` is active and idle together. */
  readonly status: SessionStatus | 'live' | 'all';
  readonly channel?: string | undefined;
  readonly userId?: string | undefined;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** Counts the filter, not the page. */
  readonly total: number;
}
