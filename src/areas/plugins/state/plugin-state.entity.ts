import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What callers settled about a plugin, for migrations and the drift check. */
@Entity('plugin_states')
export class PluginStateEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  name!: string;

  @Column({ type: 'boolean' })
  disabled!: boolean;

  /** Moves with every change. */
  @Column({ type: 'bigint' })
  revision!: string;

  /** Moves with every reload. */
  @Column({ type: 'bigint' })
  loads!: string;
}
