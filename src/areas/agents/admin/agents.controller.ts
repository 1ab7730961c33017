import { Body, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/faces.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { AgentChecks } from '../agent-checks.service.js';
import { AgentDirectory } from '../agent-directory.service.js';
import {
  AgentPageView,
  AgentsCheckedView,
  CHECK_EXAMPLES,
  CheckAgentsRequest,
  presentAgentPage,
  presentAgentsChecked,
} from './agent.views.js';

/** Agents (docs/specification/additions.md, Operators' API). */
@AdminController('agents')
export class AgentsController {
  constructor(
    private readonly agents: AgentDirectory,
    private readonly checks: AgentChecks,
  ) {}

  @Get()
  @Does('List agents', 'By name, with the health of their models as this replica knows it.')
  @AdminScope('agents:read')
  @Answers(200, 'A page of agents, by name', AgentPageView)
  async list(@Query() query: PageQuery, @CurrentCaller() caller: Caller): Promise<AgentPageView> {
    return presentAgentPage(await this.agents.list(query, caller));
  }

  @Post('check')
  @Does(
    'Check the models of agents',
    'One token of each model, at the expense of its provider: who answers, how soon, what it cost, and why not.',
  )
  @HttpCode(200)
  @AdminScope('sessions:write', { tier: 'sessions_write' })
  @TakesJsonBody()
  @ApiBody({ type: CheckAgentsRequest, examples: CHECK_EXAMPLES })
  @Answers(200, 'Each model was asked, or says why not', AgentsCheckedView)
  async check(
    @Body() { agents }: CheckAgentsRequest,
    @CurrentCaller() caller: Caller,
  ): Promise<AgentsCheckedView> {
    return presentAgentsChecked(await this.checks.check(agents, caller));
  }
}
