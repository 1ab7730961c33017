import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { TurnEntity } from './turn.entity.js';

/** A file that a tool made for the people of a conversation, until they have it; see `TurnFiles`. */
@Entity('turn_files')
export class TurnFileEntity {
  @PrimaryColumn({ name: 'turn_id', type: 'text', collation: 'C' })
  @ForeignKey(() => TurnEntity, { name: 'turn_files_turn_id_fkey', onDelete: 'CASCADE' })
  turnId!: string;

  /** The number of the step with the result of the call. */
  @PrimaryColumn({ type: 'integer' })
  step!: number;

  /** From 1, in the order of the result. */
  @PrimaryColumn({ type: 'integer' })
  place!: number;

  @Column({ type: 'text' })
  name!: string;

  @Column({ name: 'mime_type', type: 'text' })
  mimeType!: string;

  /** Null for a file that was too much for one answer. */
  @Column({ type: 'bytea', nullable: true })
  data!: Buffer | null;
}
