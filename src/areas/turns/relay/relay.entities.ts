import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a running turn has said, for viewers on other replicas. */
@Entity('turn_frames')
export class TurnFrameEntity {
  @PrimaryColumn({ name: 'turn_id', type: 'text', collation: 'C' })
  turnId!: string;

  /** From 1, without gaps. */
  @PrimaryColumn({ type: 'integer' })
  n!: number;

  /** Events as JSON. */
  @Column({ type: 'text' })
  events!: string;
}

/** Which replicas have viewers of a session; `RemoteTurnsStore` has the statements. */
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
