import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What all replicas know of a channel. */
@Entity('channel_states')
export class ChannelStateEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  name!: string;

  @Column({ name: 'last_message_at', type: 'timestamptz', precision: 3, nullable: true })
  lastMessageAt!: Date | null;
}
