import type { Type } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import {
  type ErrorEnvelopeA,
  type ErrorEnvelopeB,
  presentError,
} from '../../../http/envelope/error-envelope.js';
import type { ProfileId } from '../../../http/profiles/profile.js';
import { type ApprovalVerdict, QUESTION_STATUSES, type QuestionStatus } from '../../tools/tools.api.js';
import type { LiveEvent } from '../../turns/turns.api.js';
import { MessageView, presentEnding, presentToolCall } from './message.views.js';

const VERDICTS = ['pending', 'allowed', 'denied', 'timeout'];

/** A piece of the answer. */
export class TokenEvent {
  @ApiProperty({ description: 'A piece of the answer, as the provider sent it', example: 'The capital ' })
  content!: string;
}

/** A piece of the model's thoughts; only from agents that show them. */
export class ReasoningEvent {
  @ApiProperty({
    description: 'A piece of what the model thinks; no part of the answer',
    example: 'The user asks for the capital. ',
  })
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

/** A call waits for approval, or no longer does. */
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

/** A tool asks people something while it runs, or no longer does. */
export class ToolQuestionEvent {
  @ApiProperty({ description: 'What the answer names' })
  id!: string;

  @ApiProperty({ description: 'The id of the call' })
  call_id!: string;

  @ApiProperty({ example: 'travel__book' })
  name!: string;

  @ApiProperty({ description: 'Plain text of the tool' })
  message!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'A flat JSON Schema of the values asked for',
  })
  schema!: Readonly<Record<string, unknown>>;

  @ApiPropertyOptional({ description: 'A page that the person is to open; its address is to be shown first' })
  url?: string;

  @ApiProperty({ enum: [...QUESTION_STATUSES, 'timeout'], description: '`pending`: it waits for an answer' })
  status!: QuestionStatus | 'timeout';

  @ApiProperty({ format: 'date-time', description: 'When it counts as declined' })
  expires_at!: string;
}

/** The progress of a tool call. */
export class ToolProgressEvent {
  @ApiProperty({ description: 'The id of the call' })
  id!: string;

  @ApiProperty({ example: 'maps__render' })
  name!: string;

  @ApiProperty({ description: 'Grows; of `total` where the tool knows that' })
  progress!: number;

  @ApiPropertyOptional()
  total?: number;

  @ApiPropertyOptional({ description: 'Plain text of the tool' })
  message?: string;
}

/** The outcome of a tool call. */
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

/** Another replica continues the turn: what was shown is void, and its stored part is shown again. */
export class RestartedEvent {
  @ApiProperty({ type: 'integer' })
  attempt!: number;
}

/** The stored answer: the last event of a completed turn. */
export class DoneEvent extends OmitType(MessageView, ['role']) {}

/** The kinds of events of a turn, with the data of each. */
export const TURN_EVENTS = {
  token: TokenEvent,
  reasoning: ReasoningEvent,
  tool_call: ToolCallEvent,
  tool_approval: ToolApprovalEvent,
  tool_question: ToolQuestionEvent,
  tool_progress: ToolProgressEvent,
  tool_result: ToolResultEvent,
  restarted: RestartedEvent,
  done: DoneEvent,
  error: 'error',
} as const satisfies Record<LiveEvent['type'], Type | 'error'>;

/** The data of an event of a turn. */
export type TurnEventView =
  | TokenEvent
  | ReasoningEvent
  | ToolCallEvent
  | ToolApprovalEvent
  | ToolQuestionEvent
  | ToolProgressEvent
  | ToolResultEvent
  | RestartedEvent
  | DoneEvent
  | ErrorEnvelopeA
  | ErrorEnvelopeB;

/** The data of an event, the same over SSE and WebSocket. Only errors differ between the profiles. */
export function presentEvent(event: LiveEvent, profile: ProfileId): TurnEventView {
  switch (event.type) {
    case 'token':
    case 'reasoning':
      return { content: event.text };
    case 'tool_call':
      return { id: event.id, name: event.name, arguments: event.arguments };
    case 'tool_approval': {
      const { approvalId, callId, tool, status, expiresAt } = event.approval;
      return { id: callId, name: tool, approval_id: approvalId, status, expires_at: expiresAt.toISOString() };
    }
    case 'tool_question':
      return presentQuestion(event.question);
    case 'tool_progress':
      return { id: event.callId, name: event.tool, ...event.progress };
    case 'tool_result': {
      const { id, name, output, status, durationMs } = event.record;
      return { id, name, content: output, is_error: status !== 'success', duration_ms: durationMs };
    }
    case 'restarted':
      return { attempt: event.attempt };
    case 'done': {
      const { id, content, tokensUsed, model, toolCalls } = event.message;
      return {
        message_id: id,
        content,
        tokens_used: tokensUsed,
        model,
        tool_calls: toolCalls.map(presentToolCall),
        ...presentEnding(event.message),
      };
    }
    case 'error':
      return presentError(profile, event.error);
    default:
      return event satisfies never;
  }
}

type ToolQuestionUpdate = Extract<LiveEvent, { type: 'tool_question' }>['question'];

function presentQuestion(question: ToolQuestionUpdate): ToolQuestionEvent {
  const { questionId, callId, tool, message, schema, url, status, expiresAt } = question;
  return {
    id: questionId,
    call_id: callId,
    name: tool,
    message,
    schema,
    ...(url === undefined ? {} : { url }),
    status,
    expires_at: expiresAt.toISOString(),
  };
}
