import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a running turn has said, for viewers on other replicas; for migrations and the drift check. */
@Entity('turn_frames')
export class TurnFrameEntity {
  @PrimaryColumn({ name: 'turn_id', type: 'text', collation: 'C' })
  turnId!: string;

  /** From 1, without a gap. */
  @PrimaryColumn({ type: 'integer' })
  n!: number;

  /** Events as JSON. */
  @Column({ type: 'text' })
  events!: string;
}
