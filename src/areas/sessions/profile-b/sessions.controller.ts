import { Body, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import { CurrentCaller, RequireScope } from '../../../http/guards/access.decorator.js';
import { IdempotencyKey } from '../../../http/idempotency/idempotency-key.decorator.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { Answers, Does, Refuses } from '../../../http/openapi/answers.decorator.js';
import { ProfileBController } from '../../../http/profiles/profile.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { SessionsService } from '../sessions.service.js';
import { CREATE_EXAMPLES_B, CreateSessionRequestB, ListSessionsQueryB } from './session.requests.js';
import {
  CreatedSessionViewB,
  presentCreatedSessionB,
  presentSessionDetailB,
  presentSessionListB,
  SessionDetailViewB,
  SessionListViewB,
} from './session.views.js';

/** Sessions in Profile B (docs/specification/api.md, 4.2). */
@ProfileBController('sessions')
export class SessionsControllerB {
  constructor(private readonly sessions: SessionsService) {}

  @Post()
  @Does('Create a session', 'Every field may be left out. The channel is `api` unless another is named.')
  @RequireScope('sessions:write', 'sessions_write')
  @TakesJsonBody()
  @ApiBody({ type: CreateSessionRequestB, required: false, examples: CREATE_EXAMPLES_B })
  @Answers(201, 'The new session', CreatedSessionViewB)
  async create(
    @Body() body: CreateSessionRequestB,
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: RequestKey | undefined,
  ): Promise<CreatedSessionViewB> {
    const { channel, user_id: userId, agent, metadata } = body;
    const onCommit = key?.storing(201, presentCreatedSessionB);
    return presentCreatedSessionB(
      await this.sessions.create({ channel, userId, agent, metadata }, caller, onCommit),
    );
  }

  @Get()
  @Does('List sessions', 'Newest first; active ones unless `status` asks for others.')
  @RequireScope('sessions:read', 'sessions_read')
  @Answers(200, 'A page of sessions, newest first', SessionListViewB)
  async list(@Query() query: ListSessionsQueryB, @CurrentCaller() caller: Caller): Promise<SessionListViewB> {
    const { status, channel, limit, offset } = query;
    return presentSessionListB(await this.sessions.list({ status, channel }, { limit, offset }, caller));
  }

  @Get(':id')
  @Does('Get a session')
  @RequireScope('sessions:read', 'sessions_read')
  @Answers(200, 'The session', SessionDetailViewB)
  async detail(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<SessionDetailViewB> {
    const session = await this.sessions.find(id, caller);
    return presentSessionDetailB(session, this.sessions.budgetOf(session));
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
