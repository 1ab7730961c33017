import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** What was asked for with a response, for migrations and the drift check; see `StoredResponseStore`. */
@Entity('responses')
export class StoredResponseEntity {
  @PrimaryColumn({ name: 'turn_id', type: 'text', collation: 'C' })
  @ForeignKey('turns', { name: 'responses_turn_id_fkey', onDelete: 'CASCADE' })
  turnId!: string;

  /** What answers repeat of the request. */
  @Column({ type: 'json' })
  request!: Record<string, unknown>;

  /** As its first answer said, to the second. */
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
