import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Which replicas have viewers of a session, for migrations and the drift check; see `RemoteTurnsStore`. */
@Entity('session_audiences')
export class SessionAudienceEntity {
  @PrimaryColumn({ name: 'session_id', type: 'text', collation: 'C' })
  sessionId!: string;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  replica!: string;

  /** Renewed while there are viewers; a replica that dies watches no longer. */
  @Column({ name: 'wanted_until', type: 'timestamptz', precision: 3 })
  wantedUntil!: Date;
}
