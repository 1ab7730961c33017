import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { RowOfStatement } from '../../platform/database/statement.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import { WAKE_OF_SESSION } from './lost/lost-turns.sql.js';
import * as end from './turn-end.sql.js';

/** What others ask of a turn that runs here. */
export type TurnSignals = RowOfStatement<typeof end.SIGNALS>;

/** The statements about running turns: who holds them, and what others ask of them. */
@Injectable()
export class TurnLeases {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /**
   * Renews the leases on these sessions.
   * @returns the fence of each session that this replica still holds
   */
  async renew(sessionIds: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.database.query(end.RENEW, { replica: this.replica.value, sessions: sessionIds });
    return new Map(rows.map(({ id, fence }) => [id, fence]));
  }

  /** What others ask of the turns of these sessions, which run here. */
  async signals(sessionIds: readonly string[]): Promise<TurnSignals[]> {
    return this.database.query(end.SIGNALS, { sessions: sessionIds, replica: this.replica.value });
  }

  /** Asks the replica that runs the session's turn to end it. False when none runs. */
  async cancel(sessionId: string): Promise<boolean> {
    if ((await this.database.query(end.CANCEL, { session: sessionId })).length === 0) return false;
    await this.wake(sessionId);
    return true;
  }

  /**
   * The same for this turn only.
   * @returns its session and fence; undefined when it does not run
   */
  async cancelTurn(turnId: string): Promise<{ readonly id: string; readonly fence: number } | undefined> {
    const [turn] = await this.database.query(end.CANCEL_TURN, { turn: turnId });
    if (turn !== undefined) await this.wake(turn.id);
    return turn;
  }

  /** Wakes a turn of this session that waits for a person: it was cancelled, or the session has ended. */
  async wake(sessionId: string): Promise<void> {
    await this.database.query(WAKE_OF_SESSION, { session: sessionId });
  }
}
