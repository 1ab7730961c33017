import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import * as sql from './remote-turns.sql.js';

/** A piece of what a running turn has said. */
export interface TurnFrame {
  readonly turnId: string;
  /** From 1, without a gap. */
  readonly n: number;
  readonly events: string;
}

/** A turn that has begun, on whatever replica. */
export interface RemoteTurn {
  readonly session_id: string;
  /** Where its message stands in the history. */
  readonly seq: number;
  readonly turn_id: string;
  readonly status: string;
  readonly owner: string | null;
}

export interface ReadFrame {
  readonly turn_id: string;
  readonly status: string;
  readonly n: number | null;
  readonly events: string | null;
}

/** The statements by which replicas show each other's turns. */
@Injectable()
export class RemoteTurnsStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** Says that this replica has viewers of these sessions, for the next seconds. */
  async watch(sessionIds: readonly string[]): Promise<void> {
    await this.database.query(sql.WATCH, [this.replica.value, sessionIds]);
  }

  /** The last turn that has begun in a session. */
  async latest(sessionId: string): Promise<RemoteTurn | undefined> {
    return (await this.database.query<RemoteTurn>(sql.LATEST, [sessionId]))[0];
  }

  /** The turns that began after these places of their sessions' histories, in their order. */
  startedAfter(sessionIds: readonly string[], positions: readonly number[]): Promise<RemoteTurn[]> {
    return this.database.query<RemoteTurn>(sql.STARTED_AFTER, [sessionIds, positions]);
  }

  /** What was written of these turns after these frames, and how they stand: one row at least for each that exists. */
  read(turnIds: readonly string[], after: readonly number[]): Promise<ReadFrame[]> {
    return this.database.query<ReadFrame>(sql.READ, [turnIds, after]);
  }

  /** Frames that were written before are not written again. */
  async write(frames: readonly TurnFrame[]): Promise<void> {
    await this.database.query(sql.WRITE, [
      frames.map(({ turnId }) => turnId),
      frames.map(({ n }) => n),
      frames.map(({ events }) => events),
    ]);
  }

  /** Takes away what nobody needs any more. */
  async forget(): Promise<void> {
    await this.database.query(sql.FORGET_FRAMES);
    await this.database.query(sql.FORGET_AUDIENCES);
  }
}
