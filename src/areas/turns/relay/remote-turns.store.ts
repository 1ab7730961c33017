import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { RowOfStatement } from '../../../platform/database/statement.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import * as sql from './remote-turns.sql.js';

/** A piece of what a running turn has said. */
export interface TurnFrame {
  readonly turnId: string;
  /** From 1, without gaps. */
  readonly n: number;
  readonly events: string;
}

/** A turn that has begun, on any replica. */
export type RemoteTurn = RowOfStatement<typeof sql.LATEST>;

export type ReadFrame = RowOfStatement<typeof sql.READ>;

/** The statements with which replicas show each other's turns. */
@Injectable()
export class RemoteTurnsStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** Records for the next seconds that this replica has viewers of these sessions. */
  async watch(sessionIds: readonly string[]): Promise<void> {
    await this.database.query(sql.WATCH, { replica: this.replica.value, sessions: sessionIds });
  }

  /** The turn that began last in a session. */
  async latest(sessionId: string): Promise<RemoteTurn | undefined> {
    return (await this.database.query(sql.LATEST, { session: sessionId }))[0];
  }

  /** The turns that began after these places in their sessions' histories, in order. */
  startedAfter(sessionIds: readonly string[], positions: readonly number[]): Promise<RemoteTurn[]> {
    return this.database.query(sql.STARTED_AFTER, { sessions: sessionIds, places: positions });
  }

  /**
   * The frames of these turns after the given ones, and the state of the turns: at least one row for each turn that
   * exists.
   */
  read(turnIds: readonly string[], after: readonly number[]): Promise<ReadFrame[]> {
    return this.database.query(sql.READ, { turns: turnIds, after });
  }

  /** Frames that were written before are not written again. */
  async write(frames: readonly TurnFrame[]): Promise<void> {
    await this.database.query(sql.WRITE, {
      turns: frames.map(({ turnId }) => turnId),
      numbers: frames.map(({ n }) => n),
      events: frames.map(({ events }) => events),
    });
  }

  /** Deletes what nobody needs any more. */
  async forget(): Promise<void> {
    await this.database.query(sql.FORGET_FRAMES);
    await this.database.query(sql.FORGET_AUDIENCES);
  }
}
