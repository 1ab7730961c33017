import { Check, Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { TurnEntity } from './turn.entity.js';

const TURN_STEP_KINDS = ['asked', 'sent', 'answered', 'spent', 'cut'] as const;

/** One step of a turn that used tools; `TurnStepsStore` has the statements. */
@Entity('turn_steps')
@Check('turn_steps_kind_check', `kind IN (${TURN_STEP_KINDS.map((kind) => `'${kind}'`).join(', ')})`)
export class TurnStepEntity {
  @PrimaryColumn({ name: 'turn_id', type: 'text', collation: 'C' })
  @ForeignKey(() => TurnEntity, { name: 'turn_steps_turn_id_fkey', onDelete: 'CASCADE' })
  turnId!: string;

  /** From 1, in the order in which they were stored. */
  @PrimaryColumn({ type: 'integer' })
  number!: number;

  /**
   * `asked`: what the model said and which tools it called; `sent`: one that had waited for a person was made, or one runs at its
   * server as a task; `answered`: what one returned; `spent`: what a call of the model cost that was broken off; `cut`: how much
   * of the results is shown from here on.
   */
  @Column({ type: 'text' })
  kind!: (typeof TURN_STEP_KINDS)[number];

  @Column({ type: 'json' })
  content!: unknown;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;
}
