import { IsIn } from 'class-validator';
import { Word } from '../../../edge/validation/word.decorator.js';

/** What a client says to a tool call that waits for a person. */
export class ToolApprovalRequest {
  @Word()
  approval_id!: string;

  @IsIn(['allow', 'deny'], { message: 'must be one of allow, deny' })
  decision!: 'allow' | 'deny';
}
