import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, MaxLength, MinLength } from 'class-validator';
import { PageQuery } from '../../../http/paging/page-query.js';
import { Optional } from '../../../http/validation/field.decorator.js';
import { Since } from '../../../http/validation/since.decorator.js';

const MAX_TEXT = 512;

/** Exact values; rows that fit all of them are listed. */
export class AuditQuery extends PageQuery {
  @ApiPropertyOptional({ description: 'The name of who did it', maxLength: MAX_TEXT })
  @Optional()
  @IsString()
  @MinLength(1)
  @MaxLength(MAX_TEXT)
  actor?: string;

  @ApiPropertyOptional({ description: 'What was done', example: 'token.created', maxLength: MAX_TEXT })
  @Optional()
  @IsString()
  @MinLength(1)
  @MaxLength(MAX_TEXT)
  action?: string;

  @ApiPropertyOptional({ description: 'What it was done to', maxLength: MAX_TEXT })
  @Optional()
  @IsString()
  @MinLength(1)
  @MaxLength(MAX_TEXT)
  subject?: string;

  @Optional()
  @Since('without it, from the oldest row on')
  since?: Date;
}
