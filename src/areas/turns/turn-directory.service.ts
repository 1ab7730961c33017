import { Injectable } from '@nestjs/common';
import { Conflict, NotFound, storedError } from '../../common/errors/gateway-error.js';
import { isId } from '../../common/ids/typeid.js';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { Database } from '../../platform/database/database.js';
import type { RowOf } from '../../platform/database/sql-types.js';
import { filtersGiven, type RowOfStatement } from '../../platform/database/statement.js';
import { refuseForeignAgent } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { LostTurns } from './lost/lost-turns.service.js';
import { RunningTurns } from './running-turns.js';
import * as sql from './turn-directory.sql.js';
import { TurnLeases } from './turn-leases.store.js';
import type { TurnStatus } from './turn-status.js';
import { TurnStopped } from './turns.errors.js';

/** A turn as operators see it, with the columns of the database. */
export type TurnRow = RowOf<typeof sql.TURN_ROW>;

export type FoundTurn = RowOfStatement<typeof sql.FIND>;

/** A step: what the model asked for (`calls`), or what one tool answered (`call_id`). */
export type StepSummary = RowOfStatement<typeof sql.STEPS>;

export interface TurnDetail {
  readonly turn: FoundTurn;
  readonly steps: readonly StepSummary[];
}

export interface TurnFilter {
  readonly session?: string | undefined;
  readonly user?: string | undefined;
  readonly agent?: string | undefined;
  readonly status?: TurnStatus | undefined;
  readonly since?: Date | undefined;
}

/** What the turns of a session used and cost together, and what runs in it. */
export type SessionTurns = RowOfStatement<typeof sql.OF_SESSION>;

const LIST = new KeysetList('turns', ['time', 'text'], ({ created_at: at, id }: TurnRow) => [at, id]);

class TurnNotFound extends NotFound {
  constructor() {
    super('There is no such turn.');
  }
}

class TurnOver extends Conflict {
  constructor(status: string) {
    super(`The turn has ended already: it is ${status}.`, { details: { reason: 'turn_ended' } });
  }
}

class TurnWaits extends Conflict {
  constructor() {
    super(
      'The turn waits behind others of its session, and its caller waits with it. Cancel it when it runs, or end the session.',
      { details: { reason: 'turn_waiting' } },
    );
  }
}

/** Lets operators look up and cancel turns. Callers that are bound see the turns of their user or their agents. */
@Injectable()
export class TurnDirectory {
  constructor(
    private readonly database: Database,
    private readonly running: RunningTurns,
    private readonly leases: TurnLeases,
    private readonly lost: LostTurns,
  ) {}

  /** Newest first. A `since` that is a duration means another moment for each page, so cursors do not depend on it. */
  async list(
    { session, user, agent, status, since, ...query }: PageQuery & TurnFilter,
    caller: Caller,
  ): Promise<Page<TurnRow>> {
    const filters = [session, user, agent, status, caller.boundUserId, caller.agents?.join(',')];
    const [afterTime, afterId] = LIST.after(query, filters);
    const conditions = {
      session,
      status,
      since,
      user,
      agent,
      bound: caller.boundUserId ?? undefined,
      agents: caller.agents,
    };
    const rows = await this.database.query(sql.LIST(filtersGiven(conditions)), {
      ...{ ...conditions, afterTime, afterId, most: query.limit + 1 },
    });
    return LIST.page(rows, query, filters);
  }

  /** Throws `TurnNotFound`, also for a turn that this caller may not see. */
  async find(id: string, caller: Caller): Promise<TurnDetail> {
    const turn = await this.visible(id, caller);
    return { turn, steps: await this.database.query(sql.STEPS, { turn: id }) };
  }

  async ofSession(sessionId: string): Promise<SessionTurns> {
    const [turns] = await this.database.query(sql.OF_SESSION, { session: sessionId });
    if (turns === undefined) throw new Error('A sum has one row.');
    return turns;
  }

  /**
   * Ends the turn within a second, on whichever replica it runs; what it has said is kept. A waiting turn ends at once.
   * Throws `TurnNotFound`, `TurnOver`, and `TurnWaits` for a turn whose caller waits.
   */
  async cancel(id: string, caller: Caller): Promise<{ readonly id: string; readonly status: TurnStatus }> {
    const { session_id: sessionId, fence } = await this.visible(id, caller);
    const origin = originJson();
    const failure = JSON.stringify(storedError(new TurnStopped()));
    if ((await this.database.query(sql.CANCEL_WAITING, { turn: id, origin, failure })).length > 0)
      return { id, status: 'cancelled' };
    const asked = await this.database.query(sql.CANCEL_RUNNING, { turn: id, origin });
    if (fence !== null) this.running.abortTurn(sessionId, fence, new TurnStopped());
    if (asked.length > 0) await this.wake(sessionId);
    const { status } = await this.visible(id, caller);
    if (asked.length > 0) return { id, status };
    throw status === 'waiting' ? new TurnWaits() : new TurnOver(status);
  }

  /** It may be parked, waiting for a person, on no replica. */
  private async wake(sessionId: string): Promise<void> {
    await this.leases.wake(sessionId);
    this.lost.wake();
  }

  private async visible(id: string, caller: Caller): Promise<FoundTurn> {
    const [turn] = isId('turn', id) ? await this.database.query(sql.FIND, { turn: id }) : [];
    if (turn === undefined) throw new TurnNotFound();
    if (caller.boundUserId !== null && turn.user_id !== caller.boundUserId) throw new TurnNotFound();
    refuseForeignAgent(turn.agent, caller);
    return turn;
  }
}
