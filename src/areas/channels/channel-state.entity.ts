import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** What all replicas know of a channel, and which of them receives for it. */
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

  /** The replica that receives, as long as its lease lasts. */
  @Column({ type: 'text', nullable: true })
  owner!: string | null;

  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3, nullable: true })
  leaseUntil!: Date | null;

  /** Larger for every owner: what one of before writes changes nothing. */
  @Column({ type: 'bigint', default: 0 })
  fence!: string;

  /** Counts the restarts that were asked for; whoever receives looks. */
  @Column({ type: 'bigint', default: 0 })
  restarts!: string;

  /** Where to go on receiving, in the adapter's words. */
  @Column({ name: 'receive_cursor', type: 'json', nullable: true })
  receiveCursor!: Record<string, unknown> | null;
}
