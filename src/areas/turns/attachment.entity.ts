import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { MessageEntity } from './message.entity.js';

/** The bytes of what was attached to a message; its description stands in the message itself. */
@Entity('attachments')
@Index('attachments_by_message', { synchronize: false })
export class AttachmentEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ name: 'message_id', type: 'text', collation: 'C' })
  @ForeignKey(() => MessageEntity, { name: 'attachments_message_id_fkey', onDelete: 'CASCADE' })
  messageId!: string;

  @Column({ type: 'bytea' })
  data!: Buffer;

  /** The API token that it counts to, and those that replaced it; null from before that was counted. */
  @Column({ name: 'token_family', type: 'text', collation: 'C', nullable: true })
  tokenFamily!: string | null;
}
