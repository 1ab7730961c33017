import { ApiProperty } from '@nestjs/swagger';
import type { FurtherCheck } from '../../../http/validation/further-checks.js';
import type { Session, TokenBudget } from '../session.js';
import type { SessionsService } from '../sessions.service.js';

/** The check of a request class that names a channel and an agent. */
export function namesCheck(sessions: SessionsService): FurtherCheck {
  return (sent, isFaulty) => {
    const named = (field: 'channel' | 'agent') =>
      isFaulty(field) ? undefined : (sent[field] as string | undefined);
    return sessions.problemsOf({ channel: named('channel'), agent: named('agent') });
  };
}

/**
 * What a session may use in a day: in addition to the specification's fields, and only while
 * `limits.daily_tokens_per_session` is set.
 */
export class TokenBudgetView {
  @ApiProperty({ type: 'integer', description: 'Model tokens per day' })
  limit!: number;

  @ApiProperty({ type: 'integer', description: 'Used since midnight UTC' })
  used!: number;

  @ApiProperty({ format: 'date-time' })
  resets_at!: string;
}

export const PENDING = 'Present while the model waits for outputs of tools that the client runs';

/** The field in a session's detail; absent while it waits for nothing. */
export function presentPending({ awaitsMessageId, status }: Session): { pending?: 'requires_action' } {
  return awaitsMessageId === null || status === 'terminated' ? {} : { pending: 'requires_action' };
}

/** The field in a session's detail; absent while there is no budget. */
export function presentBudget(budget: TokenBudget | undefined): { token_budget?: TokenBudgetView } {
  if (budget === undefined) return {};
  const { limit, used, resetsAt } = budget;
  return { token_budget: { limit, used, resets_at: resetsAt.toISOString() } };
}
