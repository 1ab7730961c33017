import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { FreeObject, Optional } from '../../../http/validation/field.decorator.js';
import { QUESTION_ACTIONS, type QuestionAnswer } from '../../tools/tools.api.js';

const MAX_CONTENT_BYTES = 65_536;

/** POST /admin/v1/questions/:id/answer, and the frame `tool_answer`. */
export class AnswerRequest {
  @ApiProperty({ enum: QUESTION_ACTIONS, description: '`cancel` is neither yes nor no' })
  @IsIn(QUESTION_ACTIONS, { message: `must be one of ${QUESTION_ACTIONS.join(', ')}` })
  action!: (typeof QUESTION_ACTIONS)[number];

  @ApiPropertyOptional({ description: 'The values that were asked for, with `accept`' })
  @Optional()
  @FreeObject(MAX_CONTENT_BYTES)
  content?: Readonly<Record<string, unknown>>;
}

export function answerOf({ action, content }: AnswerRequest): QuestionAnswer {
  return content === undefined ? { action } : { action, content };
}
