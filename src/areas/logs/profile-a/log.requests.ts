import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { Optional } from '../../../http/validation/optional.decorator.js';
import { MOST_PER_PAGE, QueryCount } from '../../../http/validation/query-count.decorator.js';
import { Word } from '../../../http/validation/word.decorator.js';
import { Since } from '../wire/since.decorator.js';

export const LEVEL_WORDS_A = ['debug', 'info', 'warn', 'error'] as const;
export type LevelWordA = (typeof LEVEL_WORDS_A)[number];

/** GET /logs, Profile A (docs/specification/api.md, 4.1). */
export class ListLogsQueryA {
  @ApiPropertyOptional({ enum: LEVEL_WORDS_A, default: 'debug', description: 'Minimum level' })
  @Optional()
  @IsIn(LEVEL_WORDS_A, { message: `must be one of ${LEVEL_WORDS_A.join(', ')}` })
  level: LevelWordA = 'debug';

  @QueryCount(100, MOST_PER_PAGE)
  limit = 100;

  @Optional()
  @Since('everything that is kept when left out')
  since?: Date;

  @ApiPropertyOptional({ description: 'A part of the gateway, such as `agent`; defaults to all' })
  @Optional()
  @Word()
  component?: string;
}
