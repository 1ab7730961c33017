import { Body, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { Answers, Does, Refuses } from '../../../http/openapi/answers.decorator.js';
import { ProfileAController } from '../../../http/profiles/profile.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { SessionsService } from '../sessions.service.js';
import {
  CREATE_EXAMPLES_A,
  CreateSessionRequestA,
  ListSessionsQueryA,
  statusFilterOf,
} from './session.requests.js';
import {
  CreatedSessionViewA,
  presentCreatedSessionA,
  presentSessionDetailA,
  presentSessionListA,
  SessionDetailViewA,
  SessionListViewA,
} from './session.views.js';

/** Sessions in Profile A (docs/specification/api.md, 4.1). */
@ProfileAController('sessions')
export class SessionsControllerA {
  constructor(private readonly sessions: SessionsService) {}

  @Post()
  @Does('Create a session', 'Every field may be left out. The channel is `api` unless another is named.')
  @RequireScope('sessions:write', 'sessions_write')
  @TakesJsonBody()
  @ApiBody({ type: CreateSessionRequestA, required: false, examples: CREATE_EXAMPLES_A })
  @Answers(201, 'The new session', CreatedSessionViewA)
  async create(
    @Body() body: CreateSessionRequestA,
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
  ): Promise<CreatedSessionViewA> {
    const { channel, user_id: userId, agent, system_prompt: systemPrompt, model } = body;
    const onCommit = key?.storing(201, presentCreatedSessionA);
    return presentCreatedSessionA(
      await this.sessions.create({ channel, userId, agent, systemPrompt, model }, caller, onCommit),
    );
  }

  @Get()
  @Does('List sessions', 'Newest first; live ones unless `status` asks for others.')
  @RequireScope('sessions:read', 'sessions_read')
  @Answers(200, 'A page of sessions, newest first', SessionListViewA)
  async list(@Query() query: ListSessionsQueryA, @CurrentCaller() caller: Caller): Promise<SessionListViewA> {
    return presentSessionListA(
      await this.sessions.list({ status: statusFilterOf(query.status) }, query, caller),
    );
  }

  @Get(':id')
  @Does('Get a session')
  @RequireScope('sessions:read', 'sessions_read')
  @Answers(200, 'The session', SessionDetailViewA)
  async detail(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<SessionDetailViewA> {
    const session = await this.sessions.find(id, caller);
    return presentSessionDetailA(session, this.sessions.modelOf(session), this.sessions.budgetOf(session));
  }

  @Delete(':id')
  @Does(
    'End a session',
    'Its history stays readable. A running answer is cut off and kept as far as it came.',
  )
  @HttpCode(204)
  @RequireScope('sessions:write', 'sessions_write')
  @Answers(204, 'The session has ended')
  @Refuses(409)
  async end(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<void> {
    await this.sessions.end(id, caller);
  }
}
