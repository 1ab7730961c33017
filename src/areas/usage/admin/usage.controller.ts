import { Get, Query } from '@nestjs/common';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { AdminController } from '../../../http/profiles/faces.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { UsageAdmin } from '../usage-admin.service.js';
import { presentUsagePage, UsageListQuery, UsagePageView } from './usage.views.js';

/** What turns used and cost (docs/specification/additions.md, Operators' API). */
@AdminController('usage')
export class UsageController {
  constructor(private readonly usage: UsageAdmin) {}

  @Get()
  @Does(
    'Show usage',
    'Sums of what turns used and cost, by the dimensions in `by`; callers bound to a user, or for some agents, see theirs.',
  )
  @AdminScope('usage:read', { boundCallers: 'own' })
  @Answers(200, 'A page of usage, sorted by the dimensions', UsagePageView)
  async list(@Query() query: UsageListQuery, @CurrentCaller() caller: Caller): Promise<UsagePageView> {
    return presentUsagePage(await this.usage.page(query, caller, query));
  }
}
