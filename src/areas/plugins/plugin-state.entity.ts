import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Whether a plugin is disabled and when it was reloaded; for migrations and the drift check. `PluginStates` has the statements. */
@Entity('plugin_states')
export class PluginStateEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  name!: string;

  @Column({ type: 'boolean' })
  disabled!: boolean;

  /** Incremented by every change. */
  @Column({ type: 'bigint' })
  revision!: string;

  /** Incremented by every reload. */
  @Column({ type: 'bigint' })
  loads!: string;
}
