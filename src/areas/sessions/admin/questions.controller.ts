import { Body, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { TakesJsonBody } from '../../../http/body/takes-body.decorator.js';
import { AdminScope, CurrentCaller } from '../../../http/guards/access.decorator.js';
import { Answers, Does } from '../../../http/openapi/answers.decorator.js';
import type { Page } from '../../../http/paging/keyset-list.js';
import { PageQuery } from '../../../http/paging/page-query.js';
import { AdminController } from '../../../http/profiles/faces.js';
import { Optional } from '../../../http/validation/field.decorator.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { QUESTION_STATUSES, type QuestionRecord, type QuestionStatus } from '../../tools/tools.api.js';
import { Questions } from '../questions.service.js';
import { AnswerRequest, answerOf } from '../wire/answer.requests.js';

class QuestionsQuery extends PageQuery {
  @ApiPropertyOptional({
    enum: QUESTION_STATUSES,
    default: 'pending',
    description: 'Answered ones stay for an hour',
  })
  @Optional()
  @IsIn(QUESTION_STATUSES, { message: `must be one of ${QUESTION_STATUSES.join(', ')}` })
  status: QuestionStatus = 'pending';
}

const EXAMPLES = {
  accept: { summary: 'Give the values', value: { action: 'accept', content: { date: '2027-03-01' } } },
  decline: { summary: 'Say no', value: { action: 'decline' } },
};

class QuestionView {
  @ApiProperty({ example: 'ques_01jd8v3q5ze0psx2w9t6m4k7ah' })
  id!: string;

  @ApiProperty({ enum: QUESTION_STATUSES })
  status!: QuestionStatus;

  @ApiProperty({ example: 'travel__book' })
  tool!: string;

  @ApiProperty({ description: 'Plain text of the tool' })
  message!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'A flat JSON Schema of the values asked for',
  })
  schema!: Readonly<Record<string, unknown>>;

  @ApiProperty({ type: 'string', nullable: true, description: 'A page that the person is to open' })
  url!: string | null;

  @ApiProperty({ description: 'As the model numbered the call' })
  tool_call_id!: string;

  @ApiProperty()
  session_id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty()
  channel!: string;

  @ApiProperty()
  user_id!: string;

  @ApiProperty({ format: 'date-time' })
  asked_at!: string;

  @ApiProperty({ format: 'date-time', description: 'Without an answer by then it counts as declined' })
  expires_at!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'As the audit names them' })
  answered_by!: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true })
  answered_at!: string | null;
}

class QuestionPageView {
  @ApiProperty({ type: [QuestionView], description: 'Newest first' })
  items!: QuestionView[];

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The `cursor` of the next page; null on the last',
  })
  next_cursor!: string | null;
}

function presentQuestion(record: QuestionRecord): QuestionView {
  return {
    id: record.id,
    status: record.status,
    tool: record.tool,
    message: record.message,
    schema: record.schema,
    url: record.url ?? null,
    tool_call_id: record.callId,
    session_id: record.sessionId,
    agent: record.agent,
    channel: record.channel,
    user_id: record.userId,
    asked_at: record.askedAt.toISOString(),
    expires_at: record.expiresAt.toISOString(),
    answered_by: record.answeredBy,
    answered_at: record.answeredAt?.toISOString() ?? null,
  };
}

function presentPage({ items, nextCursor }: Page<QuestionRecord>): QuestionPageView {
  return { items: items.map(presentQuestion), next_cursor: nextCursor };
}

/** What tools ask people while they run (docs/specification/additions.md, Operators' API). */
@AdminController('questions')
export class QuestionsController {
  constructor(private readonly questions: Questions) {}

  @Get()
  @Does('List what tools ask people', 'Newest first, over all sessions that the token sees.')
  @AdminScope('sessions:read', { boundCallers: 'own' })
  @Answers(200, 'A page of questions, newest first', QuestionPageView)
  async list(@Query() query: QuestionsQuery, @CurrentCaller() caller: Caller): Promise<QuestionPageView> {
    return presentPage(await this.questions.list(query, query.status, caller));
  }

  @Post(':id/answer')
  @Does(
    'Answer what a tool asks',
    'The first answer counts, on whichever replica; the second is 409 with the reason `already_answered`.',
  )
  @HttpCode(200)
  @AdminScope('sessions:write', { boundCallers: 'own' })
  @TakesJsonBody()
  @ApiBody({ type: AnswerRequest, examples: EXAMPLES })
  @Answers(200, 'The question, answered', QuestionView)
  async answer(
    @Param('id') id: string,
    @Body() request: AnswerRequest,
    @CurrentCaller() caller: Caller,
  ): Promise<QuestionView> {
    return presentQuestion(await this.questions.answer(id, answerOf(request), caller));
  }
}
