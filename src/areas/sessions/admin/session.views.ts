import { ApiProperty } from '@nestjs/swagger';
import type { Page } from '../../../http/paging/keyset-list.js';
import {
  Count,
  isoOrNull,
  Moment,
  MomentOrNull,
  NextCursor,
  TextOrNull,
} from '../../../http/paging/page-view.js';
import type { FoundSession, SessionReport } from '../session-search.service.js';
import { SESSION_STATUSES, type SessionStatus } from '../session-status.js';
import { presentBudget, type TokenBudgetView } from '../wire/session.shared.js';

/** A session without what was said in it. */
export class AdminSessionView {
  @ApiProperty({ example: 'sess_01jd8v3q5ze0psx2w9t6m4k7ah' })
  id!: string;

  @ApiProperty()
  user_id!: string;

  @ApiProperty()
  channel!: string;

  @ApiProperty()
  agent!: string;

  @TextOrNull('The model that it names; null for that of its agent')
  model!: string | null;

  @ApiProperty({ enum: SESSION_STATUSES })
  status!: SessionStatus;

  @ApiProperty({ description: 'Whether a turn runs in it' })
  running!: boolean;

  @Moment()
  created_at!: string;

  @Moment()
  last_activity!: string;

  @Count()
  message_count!: number;

  @Count()
  turn_count!: number;

  @Count()
  input_tokens!: number;

  @Count()
  output_tokens!: number;
}

export class AdminSessionPageView {
  @ApiProperty({ type: [AdminSessionView], description: 'Newest first' })
  items!: AdminSessionView[];

  @NextCursor()
  next_cursor!: string | null;
}

export class AdminSessionDetailView extends AdminSessionView {
  @ApiProperty({ description: 'The model that answers next' })
  answering_model!: string;

  @TextOrNull()
  system_prompt!: string | null;

  @ApiProperty({ type: 'object', additionalProperties: true })
  metadata!: Readonly<Record<string, unknown>>;

  @MomentOrNull('When it was ended, or its silence was written down')
  ended_at!: string | null;

  @TextOrNull('The id of the turn that runs')
  running_turn_id!: string | null;

  @Count('Messages that wait for their turn')
  turns_waiting!: number;

  @Count()
  cached_input_tokens!: number;

  @Count()
  cache_write_tokens!: number;

  @Count()
  reasoning_tokens!: number;

  @Count('Tokens, in and out, whose price is unknown')
  unpriced_tokens!: number;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'US dollars, of the tokens whose price is known; null when nothing of it is priced',
  })
  cost_usd!: number | null;

  @ApiProperty({
    type: 'object',
    nullable: true,
    description: 'Model tokens of a day; null while no daily budget for sessions is set',
    properties: {
      limit: { type: 'integer' },
      used: { type: 'integer', description: 'Since midnight UTC' },
      resets_at: { type: 'string', format: 'date-time' },
    },
    required: ['limit', 'used', 'resets_at'],
  })
  token_budget!: TokenBudgetView | null;
}

function presentSession(session: Omit<FoundSession, 'isRunning'>, isRunning: boolean): AdminSessionView {
  return {
    id: session.id,
    user_id: session.userId,
    channel: session.channel,
    agent: session.agent,
    model: session.model,
    status: session.status,
    running: isRunning,
    created_at: session.createdAt.toISOString(),
    last_activity: session.lastActivity.toISOString(),
    message_count: session.messageCount,
    turn_count: session.turnCount,
    input_tokens: session.inputTokens,
    output_tokens: session.outputTokens,
  };
}

export function presentSessionPage({ items, nextCursor }: Page<FoundSession>): AdminSessionPageView {
  return { items: items.map((item) => presentSession(item, item.isRunning)), next_cursor: nextCursor };
}

export function presentSessionReport(report: SessionReport): AdminSessionDetailView {
  const { session, turns, budget } = report;
  return {
    ...presentSession(session, turns.running !== null),
    answering_model: report.model,
    system_prompt: session.systemPrompt,
    metadata: session.metadata,
    ended_at: isoOrNull(report.endedAt),
    running_turn_id: turns.running,
    turns_waiting: turns.waiting,
    cached_input_tokens: turns.cached_input_tokens,
    cache_write_tokens: turns.cache_write_tokens,
    reasoning_tokens: turns.reasoning_tokens,
    unpriced_tokens: turns.unpriced_tokens,
    cost_usd: turns.cost_usd,
    token_budget: presentBudget(budget).token_budget ?? null,
  };
}
