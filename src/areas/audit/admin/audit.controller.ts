import { Get, Query } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, MaxLength, MinLength } from 'class-validator';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { Optional } from '../../../http/validation/field.decorator.js';
import { Since } from '../../../http/validation/since.decorator.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { AuditQueries } from '../audit-queries.service.js';
import { AuditPageView, presentAuditPage } from './audit.views.js';

const MAX_TEXT = 512;

/** Exact values; rows that fit all of them are listed. */
class AuditQuery extends PageQuery {
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

/** The audit (docs/specification/additions.md, Operators' API). */
@AdminController('audit')
export class AuditController {
  constructor(private readonly audit: AuditQueries) {}

  @Get()
  @Does('List the audit', 'Who did what, from where, newest first. Reading it is audited, too.')
  @AdminScope('audit:read')
  @Answers(200, 'A page of rows, newest first', AuditPageView)
  async list(@Query() query: AuditQuery, @CurrentCaller() caller: Caller): Promise<AuditPageView> {
    return presentAuditPage(await this.audit.list(query, caller));
  }
}
