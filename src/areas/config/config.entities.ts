import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The history of the configuration, for migrations and the drift check; requests go through `ConfigStore`. */
@Entity('config_changes')
export class ConfigChangeEntity {
  @PrimaryColumn({ type: 'bigint' })
  revision!: string;

  @Column({ type: 'text' })
  action!: string;

  @Column({ name: 'actor_name', type: 'text' })
  actorName!: string;

  @Column({ name: 'actor_token_id', type: 'text', nullable: true })
  actorTokenId!: string | null;

  @Column({ name: 'changed_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  changedAt!: Date;

  @Column({ type: 'jsonb' })
  edits!: unknown;
}

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
