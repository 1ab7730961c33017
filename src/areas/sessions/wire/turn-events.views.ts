import type { Type } from '@nestjs/common';
import { ApiProperty, OmitType } from '@nestjs/swagger';
import type { ErrorEnvelopeA, ErrorEnvelopeB } from '../../../http/envelope/error-envelope.js';
import type { ApprovalVerdict } from '../../tools/tools.api.js';
import type { LiveEvent } from '../../turns/turns.api.js';
import { MessageView } from './message.views.js';

const VERDICTS = ['pending', 'allowed', 'denied', 'timeout'];

/** A piece of the answer. */
export class TokenEvent {
  @ApiProperty({ description: 'A piece of the answer, as the provider sent it', example: 'The capital ' })
  content!: string;
}

/** The agent calls a tool. */
export class ToolCallEvent {
  @ApiProperty({ description: 'The id of the call' })
  id!: string;

  @ApiProperty({ example: 'files__read_file' })
  name!: string;

  @ApiProperty({ type: 'object', additionalProperties: true })
  arguments!: Readonly<Record<string, unknown>>;
}

/** A call waits for a person, or does no longer. */
export class ToolApprovalEvent {
  @ApiProperty({ description: 'The id of the call' })
  id!: string;

  @ApiProperty({ example: 'files__write_file' })
  name!: string;

  @ApiProperty({ description: 'What the decision names' })
  approval_id!: string;

  @ApiProperty({ enum: VERDICTS, description: '`pending`: the call waits for a person' })
  status!: 'pending' | ApprovalVerdict;

  @ApiProperty({ format: 'date-time', description: 'When it counts as denied' })
  expires_at!: string;
}

/** What a tool call came to. */
export class ToolResultEvent {
  @ApiProperty({ description: 'The id of the call' })
  id!: string;

  @ApiProperty({ example: 'files__read_file' })
  name!: string;

  @ApiProperty({ description: 'Cut at 16 KiB with a mark' })
  content!: string;

  @ApiProperty()
  is_error!: boolean;

  @ApiProperty({ type: 'integer' })
  duration_ms!: number;
}

/** The stored answer: the last event of a turn that was completed. */
export class DoneEvent extends OmitType(MessageView, ['role']) {}

/** The kinds of events of a turn, with what each carries. */
export const TURN_EVENTS = {
  token: TokenEvent,
  tool_call: ToolCallEvent,
  tool_approval: ToolApprovalEvent,
  tool_result: ToolResultEvent,
  done: DoneEvent,
  error: 'error',
} as const satisfies Record<LiveEvent['type'], Type | 'error'>;

/** What an event of a turn carries. */
export type TurnEventView =
  | TokenEvent
  | ToolCallEvent
  | ToolApprovalEvent
  | ToolResultEvent
  | DoneEvent
  | ErrorEnvelopeA
  | ErrorEnvelopeB;
