import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { Word } from '../../../../http/validation/field.decorator.js';

const DECISIONS = ['allow', 'deny'] as const;

/** What a client says to a tool call that waits for a person. */
export class ToolApprovalRequest {
  @Word()
  approval_id!: string;

  @ApiProperty({ enum: DECISIONS })
  @IsIn(DECISIONS, { message: 'must be one of allow, deny' })
  decision!: (typeof DECISIONS)[number];
}
