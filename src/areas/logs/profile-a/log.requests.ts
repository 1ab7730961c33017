import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { MAX_PER_PAGE, Optional, QueryCount, Word } from '../../../http/validation/field.decorator.js';
import { Since } from '../wire/since.decorator.js';

export const LOG_LEVELS_A = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevelA = (typeof LOG_LEVELS_A)[number];

/** GET /logs, Profile A (docs/specification/api.md, 4.1). */
export class ListLogsQueryA {
  @ApiPropertyOptional({ enum: LOG_LEVELS_A, default: 'debug', description: 'Minimum level' })
  @Optional()
  @IsIn(LOG_LEVELS_A, { message: `must be one of ${LOG_LEVELS_A.join(', ')}` })
  level: LogLevelA = 'debug';

  @QueryCount(100, MAX_PER_PAGE)
  limit = 100;

  @Optional()
  @Since('everything that is kept when left out')
  since?: Date;

  @ApiPropertyOptional({ description: 'A part of the gateway, such as `agent`; defaults to all' })
  @Optional()
  @Word()
  component?: string;
}
