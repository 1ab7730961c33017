import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An event that at least one hook subscribed to; only the function `emit_event` writes it. */
@Entity('events')
export class EventEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ name: 'occurred_at', type: 'timestamptz', precision: 3 })
  occurredAt!: Date;

  @Column({ type: 'json' })
  data!: Record<string, unknown>;
}
