import { Get, Param, Query } from '@nestjs/common';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { Optional } from '../../../http/validation/field.decorator.js';
import { TextFilter, WordFilter } from '../../../http/validation/filter.decorator.js';
import { Since } from '../../../http/validation/since.decorator.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { SessionFilter } from '../session.js';
import { SessionSearch } from '../session-search.service.js';
import { SESSION_STATUSES } from '../session-status.js';
import {
  AdminSessionDetailView,
  AdminSessionPageView,
  presentSessionPage,
  presentSessionReport,
} from './session.views.js';

class SessionsQuery extends PageQuery {
  @TextFilter(
    'The beginning of an id with `sess_`, or a part of the id of a user in whatever case; a page looks at 50,000 sessions for that, and may be short',
    'ada',
  )
  query?: string;

  @TextFilter('The id of its user')
  user?: string;

  @TextFilter('The name of its agent')
  agent?: string;

  @TextFilter('The name of its channel', 'api')
  channel?: string;

  @WordFilter([...SESSION_STATUSES, 'live'], '`live` is active or idle')
  status?: SessionFilter['status'];

  @Optional()
  @Since('created since then; without it, from the oldest on')
  since?: Date;
}

/** Sessions (docs/specification/additions.md, Operators' API). */
@AdminController('sessions')
export class AdminSessionsController {
  constructor(private readonly sessions: SessionSearch) {}

  @Get()
  @Does(
    'List sessions',
    'Newest first, not counted. Callers bound to a user see their own, tokens of some agents those of their agents.',
  )
  @AdminScope('sessions:read', { tier: 'sessions_read', boundCallers: 'own' })
  @Answers(200, 'A page of sessions, newest first', AdminSessionPageView)
  async list(@Query() query: SessionsQuery, @CurrentCaller() caller: Caller): Promise<AdminSessionPageView> {
    return presentSessionPage(await this.sessions.list(query, caller));
  }

  @Get(':id')
  @Does('Show a session', 'With what its turns used and cost, and which of them runs.')
  @AdminScope('sessions:read', { tier: 'sessions_read', boundCallers: 'own' })
  @Answers(200, 'The session', AdminSessionDetailView)
  async find(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<AdminSessionDetailView> {
    return presentSessionReport(await this.sessions.report(id, caller));
  }
}
