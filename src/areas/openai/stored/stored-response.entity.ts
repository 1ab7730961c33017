import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { Echo } from '../requests/response-echo.js';

/** The request of a response. */
@Entity('responses')
export class StoredResponseEntity {
  @PrimaryColumn({ name: 'turn_id', type: 'text', collation: 'C' })
  @ForeignKey('turns', { name: 'responses_turn_id_fkey', onDelete: 'CASCADE' })
  turnId!: string;

  /** What answers repeat of the request. */
  @Column({ type: 'json' })
  request!: Echo;

  /** As its first answer said, to the second. */
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
