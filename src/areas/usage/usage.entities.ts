import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { BudgetPeriod, BudgetScope } from './budgets.js';

/** What is counted, for which day and whom: the columns that entries and days share. */
abstract class UsageColumns {
  @Column({ type: 'text' })
  agent!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** Its name; of a channel `channel:<name>`. */
  @Column({ name: 'api_token', type: 'text' })
  apiToken!: string;

  @Column({ type: 'text' })
  provider!: string;

  @Column({ type: 'text' })
  model!: string;

  @Column({ type: 'text' })
  channel!: string;

  /** A turn that used several models counts once, towards the last of them. */
  @Column({ type: 'bigint' })
  turns!: string;

  @Column({ name: 'input_tokens', type: 'bigint' })
  inputTokens!: string;

  @Column({ name: 'cached_input_tokens', type: 'bigint' })
  cachedInputTokens!: string;

  @Column({ name: 'cache_write_tokens', type: 'bigint' })
  cacheWriteTokens!: string;

  @Column({ name: 'output_tokens', type: 'bigint' })
  outputTokens!: string;

  @Column({ name: 'reasoning_tokens', type: 'bigint' })
  reasoningTokens!: string;

  /** Tokens, in and out, of calls whose price is unknown. */
  @Column({ name: 'unpriced_tokens', type: 'bigint' })
  unpricedTokens!: string;

  /** Of the calls whose price is known; null when there is none. */
  @Column({ name: 'cost_usd', type: 'numeric', nullable: true })
  costUsd!: string | null;
}

/** What one turn used of one model, until it is summed up. */
@Entity('usage_entries')
export class UsageEntryEntity extends UsageColumns {
  @PrimaryColumn({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS' })
  id!: string;

  /** On which the turn ended, in UTC. */
  @Column({ type: 'date' })
  day!: string;
}

/** The sum of the entries of one day with the same dimensions. */
@Entity('usage_days')
@Index('usage_days_by_user', ['userId', 'day'])
export class UsageDayEntity extends UsageColumns {
  @PrimaryColumn({ type: 'date' })
  day!: string;

  /** Stands for all dimensions except the day: they are too long for an index. */
  @PrimaryColumn({ type: 'uuid' })
  key!: string;
}

/** What one user, API token, agent, or all of them spent on a day: compared with budgets, together with the entries. */
@Entity('budget_spending')
export class BudgetSpendingEntity {
  /** `all`, `users`, `api_tokens` or `agents`, as in `limits`. */
  @PrimaryColumn({ type: 'text' })
  scope!: string;

  /** Empty for `all`. */
  @PrimaryColumn({ type: 'text' })
  name!: string;

  @PrimaryColumn({ type: 'date' })
  day!: string;

  @Column({ name: 'cost_usd', type: 'numeric' })
  costUsd!: string;
}

/** Records that a budget's warning was sent, or its end reached, so that the event is sent once. */
@Entity('budget_notices')
export class BudgetNoticeEntity {
  @PrimaryColumn({ type: 'text' })
  scope!: BudgetScope;

  @PrimaryColumn({ type: 'text' })
  name!: string;

  /** `day` or `month`. */
  @PrimaryColumn({ type: 'text' })
  period!: BudgetPeriod;

  @PrimaryColumn({ name: 'starts_on', type: 'date' })
  startsOn!: string;

  @PrimaryColumn({ name: 'limit_usd', type: 'numeric' })
  limitUsd!: string;

  /** `warned` or `reached`. */
  @PrimaryColumn({ type: 'text' })
  notice!: 'warned' | 'reached';
}
