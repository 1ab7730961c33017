import { Get, Query } from '@nestjs/common';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { Optional } from '../../../http/validation/field.decorator.js';
import { parseSince, Since } from '../../../http/validation/since.decorator.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { OverviewService } from '../overview.service.js';
import { OverviewView, presentOverview } from './overview.views.js';

class OverviewQuery {
  @Optional()
  @Since('24h unless given')
  since?: Date;
}

/** The first look (docs/specification/additions.md, Operators' API). */
@AdminController('overview')
export class OverviewController {
  constructor(private readonly overview: OverviewService) {}

  @Get()
  @Does(
    'Show the overview',
    'How each part does, turns and spend over time in at most 120 pieces, and what needs a person. At most two seconds old. Cost takes `usage:read`, and what fails or needs a person the `read` of its area: without it that is left out.',
  )
  @AdminScope('status:read')
  @Answers(200, 'The overview', OverviewView)
  async show(@Query() { since }: OverviewQuery, @CurrentCaller() caller: Caller): Promise<OverviewView> {
    return presentOverview(await this.overview.since(since ?? aDayAgo(), caller), caller);
  }
}

function aDayAgo(): Date {
  return parseSince('24h', new Date()) ?? new Date(0);
}
