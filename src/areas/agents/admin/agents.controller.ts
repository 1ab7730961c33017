import { Get, Query } from '@nestjs/common';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/faces.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { AgentDirectory } from '../agent-directory.service.js';
import { AgentPageView, presentAgentPage } from './agent.views.js';

/** Agents (docs/specification/additions.md, Operators' API). */
@AdminController('agents')
export class AgentsController {
  constructor(private readonly agents: AgentDirectory) {}

  @Get()
  @Does('List agents', 'By name, with the health of their models as this replica knows it.')
  @AdminScope('agents:read')
  @Answers(200, 'A page of agents, by name', AgentPageView)
  async list(@Query() query: PageQuery, @CurrentCaller() caller: Caller): Promise<AgentPageView> {
    return presentAgentPage(await this.agents.list(query, caller));
  }
}
