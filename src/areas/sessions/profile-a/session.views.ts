import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Session, SessionPage, SessionSummary, TokenBudget } from '../session.js';
import type { SessionStatus } from '../session-status.js';
import { PENDING, presentBudget, presentPending, TokenBudgetView } from '../wire/session.shared.js';

export const SESSION_STATUSES_A = ['active', 'completed'] as const;
export type SessionStatusA = (typeof SESSION_STATUSES_A)[number];
const STATUSES = { active: 'active', idle: 'active', terminated: 'completed' } as const satisfies Record<
  SessionStatus,
  SessionStatusA
>;

/** Profile A knows no idle: a live session is active (docs/specification/api.md, 3). */
export function sessionStatusA(status: SessionStatus): SessionStatusA {
  return STATUSES[status];
}

/** The create shape of Profile A (docs/specification/api.md, 2.1). */
export class CreatedSessionViewA {
  @ApiProperty({ example: 'sess_01jd8v3q5ze0psx2w9t6m4k7ah' })
  session_id!: string;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ example: 'api' })
  channel!: string;

  @ApiProperty({ enum: SESSION_STATUSES_A })
  status!: SessionStatusA;
}

export class SessionItemViewA extends CreatedSessionViewA {
  @ApiProperty({ type: 'integer' })
  message_count!: number;
}

export class SessionDetailViewA extends SessionItemViewA {
  @ApiProperty({ example: 'support', description: 'The name of the agent that answers' })
  agent!: string;

  @ApiProperty({ description: 'The model of the session' })
  model!: string;

  @ApiProperty({ type: 'integer' })
  total_tokens!: number;

  @ApiPropertyOptional({ description: 'Only while a daily budget for sessions is set' })
  token_budget?: TokenBudgetView;

  @ApiPropertyOptional({ enum: ['requires_action'], description: PENDING })
  pending?: 'requires_action';
}

export class SessionListViewA {
  @ApiProperty({ type: [SessionItemViewA] })
  sessions!: SessionItemViewA[];

  @ApiProperty({ type: 'integer', description: 'Counts the filter, not the page' })
  total!: number;
}

export function presentCreatedSessionA(session: SessionSummary): CreatedSessionViewA {
  return {
    session_id: session.id,
    created_at: session.createdAt.toISOString(),
    channel: session.channel,
    status: sessionStatusA(session.status),
  };
}

function presentSessionItemA(session: SessionSummary): SessionItemViewA {
  return {
    session_id: session.id,
    created_at: session.createdAt.toISOString(),
    channel: session.channel,
    status: sessionStatusA(session.status),
    message_count: session.messageCount,
  };
}

export function presentSessionDetailA(
  session: Session,
  model: string,
  budget: TokenBudget | undefined,
): SessionDetailViewA {
  return {
    session_id: session.id,
    created_at: session.createdAt.toISOString(),
    channel: session.channel,
    status: sessionStatusA(session.status),
    message_count: session.messageCount,
    agent: session.agent,
    model,
    total_tokens: session.inputTokens + session.outputTokens,
    ...presentBudget(budget),
    ...presentPending(session),
  };
}

export function presentSessionListA(page: SessionPage): SessionListViewA {
  return { sessions: page.sessions.map(presentSessionItemA), total: page.total };
}
