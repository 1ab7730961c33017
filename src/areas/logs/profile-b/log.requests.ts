import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { MAX_PER_PAGE, Optional, QueryCount, Word } from '../../../http/validation/field.decorator.js';
import { LOG_LEVELS, type LogLevel } from '../../../platform/logging/logger.js';
import { parseSince } from '../since.js';
import { Since } from '../wire/since.decorator.js';

const TRUTHS = ['true', 'false'] as const;

/** GET /logs/stream, Profile B (docs/specification/api.md, 4.2). */
export class StreamLogsQueryB {
  @ApiPropertyOptional({ enum: LOG_LEVELS, default: 'info', description: 'Minimum level' })
  @Optional()
  @IsIn(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(', ')}` })
  level: LogLevel = 'info';
}

/** GET /logs, Profile B. */
export class ListLogsQueryB extends StreamLogsQueryB {
  @ApiPropertyOptional({
    description: 'A module and everything below it, such as `channel::telegram`; defaults to all',
  })
  @Optional()
  @Word()
  module?: string;

  @Optional()
  @Since('one hour ago when left out')
  since: Date = parseSince('1h', new Date()) as Date;

  @QueryCount(100, MAX_PER_PAGE)
  limit = 100;

  @ApiPropertyOptional({
    type: 'boolean',
    default: false,
    description: 'Server-Sent Events instead of a list',
  })
  @Optional()
  @IsIn(TRUTHS, { message: 'must be true or false' })
  stream: (typeof TRUTHS)[number] = 'false';
}
