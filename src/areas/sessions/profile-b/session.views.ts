import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Session, SessionPage, SessionSummary, TokenBudget } from '../session.js';
import { SESSION_STATUSES, type SessionStatus } from '../session-status.js';
import { PENDING, presentBudget, presentPending, TokenBudgetView } from '../wire/session.shared.js';

class SessionViewB {
  @ApiProperty({ example: 'sess_01jd8v3q5ze0psx2w9t6m4k7ah' })
  id!: string;

  @ApiProperty({ example: 'api' })
  channel!: string;

  @ApiProperty()
  user_id!: string;

  @ApiProperty({ enum: SESSION_STATUSES })
  status!: SessionStatus;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;
}

/** The create shape of Profile B (docs/specification/api.md, 2.1). */
export class CreatedSessionViewB extends SessionViewB {
  @ApiProperty({ type: 'object', additionalProperties: true })
  metadata!: Readonly<Record<string, unknown>>;
}

export class SessionItemViewB extends SessionViewB {
  @ApiProperty({ format: 'date-time' })
  last_activity!: string;
}

export class TokenUsageViewB {
  @ApiProperty({ type: 'integer' })
  input!: number;

  @ApiProperty({ type: 'integer' })
  output!: number;
}

export class SessionDetailViewB extends CreatedSessionViewB {
  @ApiProperty({ example: 'support', description: 'The name of the agent that answers' })
  agent!: string;

  @ApiProperty({ format: 'date-time' })
  last_activity!: string;

  @ApiProperty({ type: 'integer' })
  turn_count!: number;

  @ApiProperty()
  token_usage!: TokenUsageViewB;

  @ApiPropertyOptional({ description: 'Only while a daily budget for sessions is set' })
  token_budget?: TokenBudgetView;

  @ApiPropertyOptional({ enum: ['requires_action'], description: PENDING })
  pending?: 'requires_action';
}

export class SessionListViewB {
  @ApiProperty({ type: [SessionItemViewB] })
  sessions!: SessionItemViewB[];

  @ApiProperty({ type: 'integer', description: 'Counts the filter, not the page' })
  total!: number;
}

export function presentCreatedSessionB(session: Session): CreatedSessionViewB {
  return {
    id: session.id,
    channel: session.channel,
    user_id: session.userId,
    status: session.status,
    created_at: session.createdAt.toISOString(),
    metadata: session.metadata,
  };
}

function presentSessionItemB(session: SessionSummary): SessionItemViewB {
  return {
    id: session.id,
    channel: session.channel,
    user_id: session.userId,
    status: session.status,
    created_at: session.createdAt.toISOString(),
    last_activity: session.lastActivity.toISOString(),
  };
}

export function presentSessionDetailB(session: Session, budget: TokenBudget | undefined): SessionDetailViewB {
  return {
    id: session.id,
    channel: session.channel,
    user_id: session.userId,
    status: session.status,
    created_at: session.createdAt.toISOString(),
    metadata: session.metadata,
    agent: session.agent,
    last_activity: session.lastActivity.toISOString(),
    turn_count: session.turnCount,
    token_usage: { input: session.inputTokens, output: session.outputTokens },
    ...presentBudget(budget),
    ...presentPending(session),
  };
}

export function presentSessionListB(page: SessionPage): SessionListViewB {
  return { sessions: page.sessions.map(presentSessionItemB), total: page.total };
}
