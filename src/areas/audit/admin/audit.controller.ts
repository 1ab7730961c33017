import { Get, Query } from '@nestjs/common';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { AdminController } from '../../../http/profiles/faces.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { AuditQueries } from '../audit-queries.service.js';
import { AuditQuery } from './audit.requests.js';
import { AuditPageView, presentAuditPage } from './audit.views.js';

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
