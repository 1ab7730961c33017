import { Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { LogsService } from '../logs.service.js';
import { refuseBoundCaller } from '../wire/refuse-bound-caller.js';
import { ListLogsQueryA } from './log.requests.js';
import { LogListViewA, presentLogListA } from './log.views.js';

/** Logs in Profile A (docs/specification/api.md, 4.1). */
@ProfileAController('logs')
export class LogsControllerA {
  constructor(private readonly logs: LogsService) {}

  @Get()
  @Does('List log entries', 'Of all replicas, oldest first; when more match than `limit`, the newest ones.')
  @RequireScope('logs:read')
  @Answers(200, 'Log entries of all replicas, oldest first', LogListViewA)
  async list(@Query() query: ListLogsQueryA, @CurrentCaller() caller: Caller): Promise<LogListViewA> {
    refuseBoundCaller(caller);
    const { level: minLevel, component: module, since, limit } = query;
    return presentLogListA(await this.logs.list({ minLevel, module }, since ?? new Date(0), limit));
  }
}
