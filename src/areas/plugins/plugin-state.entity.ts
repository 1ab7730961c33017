import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Whether a plugin is disabled, and how often it was reloaded. */
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
