import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { FreeObject } from '../../edge/validation/free-object.decorator.js';
import { Optional } from '../../edge/validation/optional.decorator.js';
import { MOST_PER_PAGE, QueryCount } from '../../edge/validation/query-count.decorator.js';
import { TextLength } from '../../edge/validation/utf8-length.decorator.js';
import { Word } from '../../edge/validation/word.decorator.js';
import { FILTER_WORDS_B, type FilterWordB } from './session-words.js';

/** POST /sessions, Profile B (specification 2.1). */
export class CreateSessionRequestB {
  @ApiPropertyOptional({ default: 'api', maxLength: 128, description: '`api` or a configured channel' })
  @Optional()
  @TextLength(1, 128)
  channel?: string;

  @ApiPropertyOptional({ maxLength: 256, description: "Defaults to the token's user, else the token's name" })
  @Optional()
  @TextLength(1, 256)
  user_id?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Free-form; at most 16 KiB',
  })
  @Optional()
  @FreeObject(16_384)
  metadata?: Record<string, unknown>;
}

/** GET /sessions, Profile B. */
export class ListSessionsQueryB {
  @ApiPropertyOptional({ enum: FILTER_WORDS_B, default: 'active' })
  @Optional()
  @IsIn(FILTER_WORDS_B, { message: `must be one of ${FILTER_WORDS_B.join(', ')}` })
  status: FilterWordB = 'active';

  @ApiPropertyOptional({ maxLength: 128, description: 'Defaults to all channels' })
  @Optional()
  @Word()
  channel?: string;

  @QueryCount(50, MOST_PER_PAGE)
  limit = 50;

  @QueryCount(0)
  offset = 0;
}
