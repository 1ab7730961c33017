import { Get, Query } from '@nestjs/common';
import { RequireScope } from '../../edge/access.decorator.js';
import { Answers } from '../../edge/answers.decorator.js';
import { TheCaller } from '../../edge/caller.decorator.js';
import { ProfileBController } from '../../profiles/profile.js';
import type { Caller } from '../../tokens/caller.js';
import { LogsService } from '../logs.service.js';
import { refuseBoundCaller } from '../wire/refuse-bound-caller.js';
import { ListLogsQueryB } from './log.requests.js';
import { LogListViewB, presentLogListB } from './log.views.js';

/** Logs in Profile B (specification 4.2). */
@ProfileBController('logs')
export class LogsControllerB {
  constructor(private readonly logs: LogsService) {}

  @Get()
  @RequireScope('logs:read')
  @Answers(200, 'Log entries of all replicas, oldest first', LogListViewB)
  async list(@Query() query: ListLogsQueryB, @TheCaller() caller: Caller): Promise<LogListViewB> {
    refuseBoundCaller(caller);
    const { level: minLevel, module, since, limit } = query;
    return presentLogListB(await this.logs.list({ minLevel, module }, since, limit));
  }
}
