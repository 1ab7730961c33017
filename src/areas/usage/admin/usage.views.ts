import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import type { Page } from '../../../http/paging/keyset-list.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { Optional } from '../../../http/validation/field.decorator.js';
import { dayIn, dimensionsIn, USAGE_DIMENSIONS } from '../usage-period.js';
import type { UsageDimension } from '../usage-report.sql.js';
import type { UsageReportRow } from '../usage-reports.js';

/** A day in UTC, as itself or as a moment of it. */
const Day = (description: string) =>
  applyDecorators(
    ApiPropertyOptional({ type: 'string', example: '2026-08-24', description }),
    Optional(),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? (dayIn(value) ?? false) : value,
    ),
    ValidateBy({
      name: 'day',
      validator: {
        validate: (value: unknown) => typeof value === 'string',
        defaultMessage: () => 'must be a day such as 2026-08-24, or a time with its zone',
      },
    }),
  );

export class UsageListQuery extends PageQuery {
  @ApiPropertyOptional({
    type: 'string',
    default: 'day',
    example: 'agent,user',
    description: `What the rows tell apart, in the order in which they are sorted: of ${USAGE_DIMENSIONS.join(', ')}, with commas`,
  })
  @Optional()
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? (dimensionsIn(value) ?? false) : value,
  )
  @ValidateBy({
    name: 'usageBy',
    validator: {
      // A parameter that is there twice came as a list of texts.
      validate: (value: unknown) => Array.isArray(value) && dimensionsIn(value.join(',')) !== undefined,
      defaultMessage: () => `must be some of ${USAGE_DIMENSIONS.join(', ')}, each once, with commas`,
    },
  })
  by: readonly UsageDimension[] = ['day'];

  @Day('The first day (UTC); 30 days with today unless given')
  since?: string;

  @Day('The last day (UTC), included; today unless given')
  until?: string;
}

/** The dimensions that were asked for, and what was counted of them. */
export class UsageRowView {
  @ApiPropertyOptional({ type: 'string', format: 'date', description: 'In UTC, on which turns ended' })
  day?: string;

  @ApiPropertyOptional({ type: 'string' })
  agent?: string;

  @ApiPropertyOptional({ type: 'string' })
  user?: string;

  @ApiPropertyOptional({
    type: 'string',
    description: 'Its name; `channel:<name>` for a channel, `issuer|subject` for who signed in',
  })
  api_token?: string;

  @ApiPropertyOptional({
    type: 'string',
    description: 'As its provider names it, with `provider/` before it unless that is the default one',
  })
  model?: string;

  @ApiPropertyOptional({ type: 'string' })
  channel?: string;

  @ApiProperty({ type: 'integer', description: 'A turn that used several models counts to the last of them' })
  turns!: number;

  @ApiProperty({ type: 'integer', description: 'All input, from a cache or not' })
  input_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Of the input: what came from the cache of the provider' })
  cached_input_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Of the input: what was written to the cache' })
  cache_write_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'All output, reasoning included' })
  output_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Of the output: what the model thought' })
  reasoning_tokens!: number;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'US dollars, of the tokens whose price is known; null when nothing of it is priced',
  })
  cost_usd!: number | null;

  @ApiProperty({ type: 'integer', description: 'Tokens, in and out, whose price is unknown' })
  unpriced_tokens!: number;
}

export class UsagePageView {
  @ApiProperty({ type: [UsageRowView], description: 'Sorted by the dimensions' })
  items!: UsageRowView[];

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The `cursor` of the next page; null on the last',
  })
  next_cursor!: string | null;
}

export function presentUsagePage({ items, nextCursor }: Page<UsageReportRow>): UsagePageView {
  return {
    items: items.map(({ dimensions, counts }) => ({ ...dimensions, ...counts })),
    next_cursor: nextCursor,
  };
}
