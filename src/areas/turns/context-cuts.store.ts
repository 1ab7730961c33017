import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import type { ContextCut } from './context-cut.js';
import type { TurnLease } from './turn-lease.js';
import { TurnInterrupted } from './turns.errors.js';

/** `$1` session, `$2` fence, `$3` replica: whoever lost the lease changes nothing. */
const CUT: Statement = {
  name: 'context_cuts.store',
  text: `
    UPDATE sessions SET messages_cut = $4, results_cut = $5
    WHERE id = $1 AND turn_fence = $2 AND turn_owner = $3 RETURNING id`,
};

/** The statements about what of a session's history is no longer sent to the model. */
@Injectable()
export class ContextCutsStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** Holds for this turn and those that follow. Throws `TurnInterrupted` when the lease was lost. */
  async store({ sessionId, fence }: TurnLease, { messages, results }: ContextCut): Promise<void> {
    const values = [sessionId, fence, this.replica.value, messages, results];
    if ((await this.database.query(CUT, values)).length === 0) throw new TurnInterrupted();
  }
}
