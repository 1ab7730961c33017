import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { WebhookAnswer } from '../adapters/webhook/webhook-inbound.service.js';

/** What a program gets for a message that it posted: the answer, or that it comes later. */
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

  @ApiPropertyOptional({ description: 'The answer, once it is there' })
  readonly content?: string;
}

export function presentInbound({ messageId, sessionId, content }: WebhookAnswer): InboundView {
  const facts = { message_id: messageId, session_id: sessionId };
  return content === null ? { status: 'accepted', ...facts } : { status: 'answered', ...facts, content };
}
