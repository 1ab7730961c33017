import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The table of overrides, for migrations and the drift check; requests go through `ConfigStore`. */
@Entity('config_overrides')
@Check('config_overrides_one_content', '(value IS NULL) <> (sealed IS NULL)')
export class ConfigOverrideEntity {
  @PrimaryColumn({ type: 'text' })
  key!: string;

  @Column({ type: 'jsonb', nullable: true })
  value!: unknown;

  @Column({ type: 'text', nullable: true })
  sealed!: string | null;
}
