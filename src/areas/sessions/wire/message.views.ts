import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { FinishReason } from '../../models/models.api.js';
import type { ToolCallRecord, ToolCallStatus } from '../../tools/tools.api.js';
import type {
  AttachmentInfo,
  AttachmentType,
  HistoryPage,
  Message,
  MessageRole,
  TurnFailure,
} from '../../turns/turns.api.js';

export class ToolCallView {
  @ApiProperty()
  id!: string;

  @ApiProperty()
  name!: string;

  @ApiProperty({ type: 'object', additionalProperties: true })
  arguments!: Readonly<Record<string, unknown>>;

  @ApiProperty({
    enum: ['success', 'error', 'denied', 'timeout', 'pending'],
    description: '`pending` is a call that the client has still to make, with a tool of its own',
  })
  status!: ToolCallStatus;

  @ApiProperty({ description: 'Cut at 16 KiB with a mark' })
  output!: string;

  @ApiProperty({ type: 'integer' })
  duration_ms!: number;
}

export class AttachmentView {
  @ApiProperty()
  id!: string;

  @ApiProperty({ enum: ['image', 'file', 'audio', 'video'] })
  type!: AttachmentType;

  @ApiProperty({ nullable: true, type: 'string' })
  name!: string | null;

  @ApiProperty()
  mime_type!: string;

  @ApiProperty({ type: 'integer' })
  size_bytes!: number;
}

/** The answer to a message (docs/specification/api.md, 2.2). */
export class MessageView {
  @ApiProperty({ example: 'msg_01jd8v3q5ze0psx2w9t6m4k7ah' })
  message_id!: string;

  @ApiProperty({ enum: ['user', 'assistant'] })
  role!: MessageRole;

  @ApiProperty()
  content!: string;

  @ApiProperty({ type: [ToolCallView] })
  tool_calls!: ToolCallView[];

  @ApiProperty({ type: 'integer' })
  tokens_used!: number;

  @ApiProperty({ nullable: true, type: 'string' })
  model!: string | null;

  @ApiPropertyOptional({
    enum: ['stop', 'tool_calls', 'length', 'content_filter', 'refusal'] satisfies FinishReason[],
    description:
      'Why the model stopped: `stop` for a whole answer, `length` when it met a limit of tokens, `content_filter` when ' +
      'its provider took the rest away, `refusal` when it declined, `tool_calls` when it asked for more tools than a turn ' +
      'may run. Absent for messages of users, for answers with `incomplete`, and for answers of earlier versions',
  })
  finish_reason?: FinishReason;

  @ApiPropertyOptional({
    description: 'Present and true when `tokens_used` is an estimate, because the provider sent no count',
  })
  usage_estimated?: boolean;
}

/** A message that is answered later (`Prefer: respond-async`); the answer follows it in the history. */
export class AcceptedView {
  @ApiProperty({ example: 'msg_01jd8v3q5ze0psx2w9t6m4k7ah', description: 'The message that was sent' })
  message_id!: string;
}

export class HistoryItemView extends MessageView {
  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: [AttachmentView] })
  attachments!: AttachmentView[];

  @ApiPropertyOptional({
    enum: ['cancelled', 'interrupted', 'failed'],
    description: 'How the answer was cut off; absent for a whole one',
  })
  incomplete?: TurnFailure;
}

export class HistoryView {
  @ApiProperty({ type: [HistoryItemView], description: 'Oldest first' })
  messages!: HistoryItemView[];

  @ApiProperty({ description: 'Whether there are older messages than these' })
  has_more!: boolean;
}

export function presentMessage(message: Message): MessageView {
  return {
    message_id: message.id,
    role: message.role,
    content: message.content,
    tool_calls: message.toolCalls.map(presentToolCall),
    tokens_used: message.tokensUsed,
    model: message.model,
    ...presentEnding(message),
  };
}

/** How an answer ended, and whether its token count is an estimate; members without a value are left out. */
export function presentEnding({
  finishReason,
  usageEstimated,
}: Pick<Message, 'finishReason' | 'usageEstimated'>): Pick<MessageView, 'finish_reason' | 'usage_estimated'> {
  return {
    ...(finishReason !== null && { finish_reason: finishReason }),
    ...(usageEstimated && { usage_estimated: true }),
  };
}

export function presentHistory(page: HistoryPage): HistoryView {
  return { messages: page.messages.map(presentHistoryItem), has_more: page.hasMore };
}

function presentHistoryItem(message: Message): HistoryItemView {
  return {
    message_id: message.id,
    role: message.role,
    content: message.content,
    created_at: message.createdAt.toISOString(),
    attachments: message.attachments.map(presentAttachment),
    tool_calls: message.toolCalls.map(presentToolCall),
    tokens_used: message.tokensUsed,
    model: message.model,
    ...presentEnding(message),
    ...(message.incomplete === null ? {} : { incomplete: message.incomplete }),
  };
}

export function presentToolCall(call: ToolCallRecord): ToolCallView {
  return {
    id: call.id,
    name: call.name,
    arguments: call.arguments,
    status: call.status,
    output: call.output,
    duration_ms: call.durationMs,
  };
}

function presentAttachment(attachment: AttachmentInfo): AttachmentView {
  return {
    id: attachment.id,
    type: attachment.type,
    name: attachment.name,
    mime_type: attachment.mimeType,
    size_bytes: attachment.sizeBytes,
  };
}
