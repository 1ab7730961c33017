import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ToolDefinition } from './tool-listing.js';

/** A tool of a server as first seen or last approved. */
@Entity('mcp_tools')
export class McpToolEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  server!: string;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  tool!: string;

  @Column({ type: 'text' })
  fingerprint!: string;

  @Column({ type: 'jsonb' })
  definition!: ToolDefinition;

  @Column({ name: 'pending_fingerprint', type: 'text', nullable: true })
  pendingFingerprint!: string | null;

  @Column({ name: 'pending_definition', type: 'jsonb', nullable: true })
  pendingDefinition!: ToolDefinition | null;

  @Column({ name: 'first_seen_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  firstSeenAt!: Date;

  @Column({ name: 'changed_at', type: 'timestamptz', precision: 3, nullable: true })
  changedAt!: Date | null;
}
