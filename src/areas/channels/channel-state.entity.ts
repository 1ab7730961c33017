import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The shared state of a channel, and which replica receives for it. */
@Entity('channel_states')
@Check('channel_states_status_check', `status IN ('connected', 'reconnecting', 'disconnected')`)
export class ChannelStateEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  name!: string;

  @Column({ name: 'last_message_at', type: 'timestamptz', precision: 3, nullable: true })
  lastMessageAt!: Date | null;

  @Column({ type: 'text', default: 'reconnecting' })
  status!: string;

  @Column({ name: 'connected_at', type: 'timestamptz', precision: 3, nullable: true })
  connectedAt!: Date | null;

  @Column({ type: 'text', nullable: true })
  error!: string | null;

  /** The replica that receives, until its lease ends. */
  @Column({ type: 'text', nullable: true })
  owner!: string | null;

  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3, nullable: true })
  leaseUntil!: Date | null;

  /** Grows with every new owner, so that writes of an earlier owner change nothing. */
  @Column({ type: 'bigint', default: 0 })
  fence!: string;

  /** Counts requested restarts; the receiving replica compares it. */
  @Column({ type: 'bigint', default: 0 })
  restarts!: string;

  /** Where to resume receiving; only the adapter reads it. */
  @Column({ name: 'receive_cursor', type: 'json', nullable: true })
  receiveCursor!: Record<string, unknown> | null;
}
