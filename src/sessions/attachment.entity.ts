import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The bytes of what was attached to a message; its description stands in the message itself. */
@Entity('attachments')
@Index('attachments_by_message', { synchronize: false })
export class AttachmentEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'message_id', type: 'text' })
  messageId!: string;

  @Column({ type: 'bytea' })
  data!: Buffer;
}
