import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { Count, Moment, TextOrNull } from '../../../http/paging/page-view.js';
import type { StepSummary, TurnDetail } from '../turn-directory.service.js';
import { AdminTurnView, Dollars, presentTurn } from './turn.views.js';

interface TurnAnswer {
  readonly message_id: string;
  readonly model: string | null;
  /** Why the model stopped. */
  readonly finish_reason: string | null;
  readonly incomplete: string | null;
  readonly created_at: string;
}

interface TurnFailure {
  readonly code: string;
  readonly message: string;
}

class FailoverView {
  @ApiProperty()
  model!: string;

  @ApiProperty({ example: 'provider_unreachable' })
  reason!: string;
}

class AskedToolView {
  @ApiProperty()
  id!: string;

  @ApiProperty()
  name!: string;
}

class ModelStepView {
  @Count()
  number!: number;

  @ApiProperty({ enum: ['model'] })
  kind!: 'model';

  @Moment()
  at!: string;

  @TextOrNull()
  model!: string | null;

  @ApiProperty({ type: [AskedToolView], description: 'The tools that it called' })
  tool_calls!: readonly AskedToolView[];

  @Count('Since the model step before')
  input_tokens!: number;

  @Count()
  output_tokens!: number;

  @Dollars()
  cost_usd!: number | null;
}

class ToolStepView {
  @Count()
  number!: number;

  @ApiProperty({ enum: ['tool'] })
  kind!: 'tool';

  @Moment()
  at!: string;

  @ApiProperty()
  tool_call_id!: string;

  @TextOrNull('Null when no model step names the call')
  name!: string | null;

  @ApiProperty({ description: 'How the call went', example: 'success' })
  status!: string;

  @ApiProperty({ type: 'number', nullable: true })
  duration_ms!: number | null;
}

@ApiExtraModels(ModelStepView, ToolStepView)
export class TurnDetailView extends AdminTurnView {
  @ApiProperty()
  user_message_id!: string;

  @ApiProperty({
    type: 'object',
    nullable: true,
    description: 'The message that answers, without its text',
    properties: {
      message_id: { type: 'string' },
      model: { type: 'string', nullable: true },
      finish_reason: { type: 'string', nullable: true, description: 'Why the model stopped' },
      incomplete: {
        type: 'string',
        nullable: true,
        description: '`cancelled`, `failed` or `interrupted`: the answer was cut off',
      },
      created_at: { type: 'string', format: 'date-time' },
    },
    required: ['message_id', 'model', 'finish_reason', 'incomplete', 'created_at'],
  })
  answer!: TurnAnswer | null;

  @ApiProperty({
    type: 'object',
    nullable: true,
    description: 'What whoever waited was told',
    properties: { code: { type: 'string' }, message: { type: 'string' } },
    required: ['code', 'message'],
  })
  failure!: TurnFailure | null;

  @ApiProperty({ type: [FailoverView], description: 'Models that failed, in their order' })
  failover!: readonly FailoverView[];

  @ApiProperty({
    type: 'array',
    items: { oneOf: [{ $ref: getSchemaPath(ModelStepView) }, { $ref: getSchemaPath(ToolStepView) }] },
    description:
      'What was stored while it ran: each call of the model that used tools, and each answer of a tool; without texts, arguments and results',
  })
  steps!: (ModelStepView | ToolStepView)[];
}

export function presentTurnDetail({ turn, steps }: TurnDetail): TurnDetailView {
  const names = new Map(steps.flatMap(({ calls }) => (calls ?? []).map(({ id, name }) => [id, name])));
  return {
    ...presentTurn(turn),
    user_message_id: turn.user_message_id,
    answer: answerOf(turn),
    failure: turn.failure === null ? null : { code: turn.failure.code, message: turn.failure.message },
    failover: (turn.failovers ?? []).map(({ model, reason }) => ({ model, reason })),
    steps: steps.map((step) => (step.kind === 'asked' ? presentAsked(step) : presentAnswered(step, names))),
  };
}

function answerOf(turn: TurnDetail['turn']): TurnAnswer | null {
  if (turn.answer_id === null || turn.answered_at === null) return null;
  return {
    message_id: turn.answer_id,
    model: turn.answer_model,
    finish_reason: turn.finish_reason,
    incomplete: turn.incomplete,
    created_at: turn.answered_at.toISOString(),
  };
}

function presentAsked(step: StepSummary): ModelStepView {
  const spent = step.spending ?? [];
  const priced = spent.flatMap(({ costUsd }) => costUsd ?? []);
  return {
    number: step.number,
    kind: 'model',
    at: step.created_at.toISOString(),
    model: step.model,
    tool_calls: (step.calls ?? []).map(({ id, name }) => ({ id, name })),
    input_tokens: spent.reduce((sum, { usage }) => sum + usage.input, 0),
    output_tokens: spent.reduce((sum, { usage }) => sum + usage.output, 0),
    cost_usd: priced.length === 0 ? null : priced.reduce((sum, cost) => sum + cost, 0),
  };
}

function presentAnswered(step: StepSummary, names: ReadonlyMap<string, string>): ToolStepView {
  return {
    number: step.number,
    kind: 'tool',
    at: step.created_at.toISOString(),
    tool_call_id: step.call_id ?? '',
    name: names.get(step.call_id ?? '') ?? null,
    status: step.status ?? (step.is_error === true ? 'error' : 'success'),
    duration_ms: step.duration_ms,
  };
}
