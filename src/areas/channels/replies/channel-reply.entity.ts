import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** One part of an answer, and how far it was sent. */
@Entity('channel_replies')
@Check(
  'channel_replies_status_check',
  `status IN ('draft', 'pending', 'sending', 'sent', 'unknown', 'failed')`,
)
export class ChannelReplyEntity {
  @PrimaryColumn({ name: 'message_id', type: 'text', collation: 'C' })
  messageId!: string;

  @PrimaryColumn({ type: 'integer' })
  part!: number;

  @Column({ type: 'text' })
  content!: string;

  @Column({ type: 'text' })
  status!: string;

  /** The platform's id once it has one; from then on the part is edited, not sent. */
  @Column({ name: 'external_id', type: 'text', nullable: true })
  externalId!: string | null;

  @Column({ type: 'integer', default: 0 })
  attempts!: number;

  @Column({ type: 'text', nullable: true })
  error!: string | null;
}
