import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { WebhookAnswer } from '../adapters/webhook/webhook-inbound.service.js';

/** The response to a posted message: its answer, or that the answer comes later. */
export class InboundView {
  @ApiProperty({ enum: ['answered', 'accepted'] })
  readonly status!: 'answered' | 'accepted';

  @ApiProperty()
  readonly message_id!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Null while the message has not reached its session',
  })
  readonly session_id!: string | null;

  @ApiPropertyOptional({ description: 'The answer, once there is one' })
  readonly content?: string;
}

export function presentInbound({ messageId, sessionId, content }: WebhookAnswer): InboundView {
  const facts = { message_id: messageId, session_id: sessionId };
  return content === null ? { status: 'accepted', ...facts } : { status: 'answered', ...facts, content };
}
