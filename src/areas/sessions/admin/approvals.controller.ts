import { Body, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import type { Page } from '../../../http/paging/keyset-list.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { Optional, TextLength } from '../../../http/validation/field.decorator.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { ApprovalRecord } from '../../tools/tools.api.js';
import { Approvals } from '../approvals.service.js';

const STATUSES = ['pending', 'allowed', 'denied'] as const;
const DECISIONS = ['allow', 'deny'] as const;
const VERDICTS = { allow: 'allowed', deny: 'denied' } as const;

class ApprovalsQuery extends PageQuery {
  @ApiPropertyOptional({ enum: STATUSES, default: 'pending', description: 'Decided ones stay for an hour' })
  @Optional()
  @IsIn(STATUSES, { message: `must be one of ${STATUSES.join(', ')}` })
  status: (typeof STATUSES)[number] = 'pending';
}

/** POST /admin/v1/approvals/:id/decision. */
class DecisionRequest {
  @ApiProperty({ enum: DECISIONS })
  @IsIn(DECISIONS, { message: `must be one of ${DECISIONS.join(', ')}` })
  decision!: (typeof DECISIONS)[number];

  @ApiPropertyOptional({ description: 'Why, for whoever looks at the decision', example: 'Asked by phone' })
  @Optional()
  @TextLength(1, 1000)
  reason?: string;
}

const EXAMPLES = {
  allow: { summary: 'Let the call run', value: { decision: 'allow' } },
  deny: { summary: 'Refuse it, and say why', value: { decision: 'deny', reason: 'Not on a Friday' } },
};

class ApprovalView {
  @ApiProperty({ example: 'appr_01jd8v3q5ze0psx2w9t6m4k7ah' })
  id!: string;

  @ApiProperty({ enum: STATUSES })
  status!: (typeof STATUSES)[number];

  @ApiProperty({ example: 'files__write_file' })
  tool!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'What the model wants to call it with',
  })
  arguments!: Readonly<Record<string, unknown>>;

  @ApiProperty({ description: 'As the model numbered the call' })
  tool_call_id!: string;

  @ApiProperty()
  session_id!: string;

  @ApiProperty()
  channel!: string;

  @ApiProperty()
  user_id!: string;

  @ApiProperty({ format: 'date-time' })
  asked_at!: string;

  @ApiProperty({ format: 'date-time', description: 'Without a decision by then the call is refused' })
  expires_at!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'As the audit names them' })
  decided_by!: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true })
  decided_at!: string | null;

  @ApiProperty({ type: 'string', nullable: true })
  reason!: string | null;
}

class ApprovalPageView {
  @ApiProperty({ type: [ApprovalView], description: 'Newest first' })
  items!: ApprovalView[];

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The `cursor` of the next page; null on the last',
  })
  next_cursor!: string | null;
}

function presentApproval(record: ApprovalRecord): ApprovalView {
  return {
    id: record.id,
    status: record.status,
    tool: record.tool,
    arguments: record.arguments,
    tool_call_id: record.callId,
    session_id: record.sessionId,
    channel: record.channel,
    user_id: record.userId,
    asked_at: record.askedAt.toISOString(),
    expires_at: record.expiresAt.toISOString(),
    decided_by: record.decidedBy,
    decided_at: record.decidedAt?.toISOString() ?? null,
    reason: record.reason,
  };
}

function presentPage({ items, nextCursor }: Page<ApprovalRecord>): ApprovalPageView {
  return { items: items.map(presentApproval), next_cursor: nextCursor };
}

/** Tool calls that wait for a person (docs/specification/additions.md, Operators' API). */
@AdminController('approvals')
export class ApprovalsController {
  constructor(private readonly approvals: Approvals) {}

  @Get()
  @Does('List tool calls that wait for a person', 'Newest first, over all sessions that the token sees.')
  @AdminScope('approvals:read', { boundCallers: 'own' })
  @Answers(200, 'A page of approvals, newest first', ApprovalPageView)
  async list(@Query() query: ApprovalsQuery, @CurrentCaller() caller: Caller): Promise<ApprovalPageView> {
    return presentPage(await this.approvals.list(query, query.status, caller));
  }

  @Post(':id/decision')
  @Does(
    'Decide whether a tool call may run',
    'The first decision counts, on whichever replica; the second is 409 with the reason `already_decided` and who was first.',
  )
  @HttpCode(200)
  @AdminScope('approvals:write', { boundCallers: 'own' })
  @TakesJsonBody()
  @ApiBody({ type: DecisionRequest, examples: EXAMPLES })
  @Answers(200, 'The decision', ApprovalView)
  async decide(
    @Param('id') id: string,
    @Body() { decision, reason }: DecisionRequest,
    @CurrentCaller() caller: Caller,
  ): Promise<ApprovalView> {
    return presentApproval(await this.approvals.decide(id, { verdict: VERDICTS[decision], reason }, caller));
  }
}
