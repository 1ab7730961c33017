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
import type { TurnRow } from '../turn-directory.service.js';
import { TURN_STATUSES, type TurnStatus } from '../turn-status.js';

/** An amount of money in the OpenAPI document. */
export const Dollars = (): PropertyDecorator =>
  ApiProperty({
    type: 'number',
    nullable: true,
    description: 'US dollars, of the tokens whose price is known; null when nothing of it is priced',
  });

/** A turn without what was said. */
export class AdminTurnView {
  @ApiProperty({ example: 'turn_01jd8v3q5ze0psx2w9t6m4k7ah' })
  id!: string;

  @ApiProperty()
  session_id!: string;

  @ApiProperty()
  user_id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty()
  channel!: string;

  @ApiProperty({ enum: [...TURN_STATUSES] })
  status!: TurnStatus;

  @TextOrNull('Why it ended without an answer')
  reason!: string | null;

  @TextOrNull('The model that answered; until then the one that the session names')
  model!: string | null;

  @Count('How often it was begun or taken up since its last step')
  attempts!: number;

  @Count('How often another replica went on with it')
  take_ups!: number;

  @Moment()
  created_at!: string;

  @MomentOrNull()
  started_at!: string | null;

  @MomentOrNull()
  ended_at!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'From its begin to its end' })
  duration_ms!: number | null;

  @Count('All input, from a cache or not; counted at the end, as the next ones')
  input_tokens!: number;

  @Count()
  cached_input_tokens!: number;

  @Count()
  cache_write_tokens!: number;

  @Count('All output, reasoning included')
  output_tokens!: number;

  @Count()
  reasoning_tokens!: number;

  @Count('Tokens, in and out, whose price is unknown')
  unpriced_tokens!: number;

  @Dollars()
  cost_usd!: number | null;
}

export class AdminTurnPageView {
  @ApiProperty({ type: [AdminTurnView], description: 'Newest first' })
  items!: AdminTurnView[];

  @NextCursor()
  next_cursor!: string | null;
}

export class CancelledTurnView {
  @ApiProperty()
  id!: string;

  @ApiProperty({
    enum: [...TURN_STATUSES],
    description: '`running` until the replica that runs it has noticed, within a second',
  })
  status!: TurnStatus;
}

export function presentTurn(turn: TurnRow): AdminTurnView {
  const { started_at: from, ended_at: until } = turn;
  return {
    id: turn.id,
    session_id: turn.session_id,
    user_id: turn.user_id,
    agent: turn.agent,
    channel: turn.channel,
    status: turn.status,
    reason: turn.reason,
    model: turn.model,
    attempts: turn.attempts,
    take_ups: turn.take_ups,
    created_at: turn.created_at.toISOString(),
    started_at: isoOrNull(from),
    ended_at: isoOrNull(until),
    duration_ms: from === null || until === null ? null : until.getTime() - from.getTime(),
    input_tokens: turn.input_tokens,
    cached_input_tokens: turn.cached_input_tokens,
    cache_write_tokens: turn.cache_write_tokens,
    output_tokens: turn.output_tokens,
    reasoning_tokens: turn.reasoning_tokens,
    unpriced_tokens: turn.unpriced_tokens,
    cost_usd: turn.cost_usd,
  };
}

export function presentTurnPage({ items, nextCursor }: Page<TurnRow>): AdminTurnPageView {
  return { items: items.map(presentTurn), next_cursor: nextCursor };
}
