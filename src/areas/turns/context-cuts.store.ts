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

/** The same with the summary `$8` of the messages up to `$4`; the first of them is at `$6`. */
const CUT_AND_SUM_UP: Statement = {
  name: 'context_cuts.store_summary',
  text: `
    WITH held AS (
      UPDATE sessions SET messages_cut = $4, results_cut = $5
      WHERE id = $1 AND turn_fence = $2 AND turn_owner = $3 RETURNING id
    )
    INSERT INTO conversation_summaries (session_id, first_seq, last_seq, model, content)
    SELECT id, $6, $4, $7, $8 FROM held
    ON CONFLICT (session_id, last_seq) DO UPDATE SET content = excluded.content, model = excluded.model
    RETURNING session_id`,
};

/** The newest `Summary` of a session, as SQL; null when nothing of it was ever summed up. */
export const newestSummary = (sessionId: string): string => `(
    SELECT json_build_object('first', first_seq, 'last', last_seq, 'content', content, 'model', model)
    FROM conversation_summaries WHERE session_id = ${sessionId} ORDER BY last_seq DESC LIMIT 1)`;

/** What stands for the oldest messages of a session, by their places in its history. */
export interface Summary {
  readonly first: number;
  readonly last: number;
  readonly content: string;
  /** The model that wrote it. */
  readonly model: string;
}

/** The statements about what of a session's history is no longer sent to the model. */
@Injectable()
export class ContextCutsStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** Holds for this turn and those that follow. Throws `TurnInterrupted` when the lease was lost. */
  async store({ sessionId, fence }: TurnLease, cut: ContextCut, summary?: Summary): Promise<void> {
    const values = [sessionId, fence, this.replica.value, cut.messages, cut.results];
    const stored =
      summary === undefined
        ? await this.database.query(CUT, values)
        : await this.database.query(CUT_AND_SUM_UP, [
            ...values,
            summary.first,
            summary.model,
            summary.content,
          ]);
    if (stored.length === 0) throw new TurnInterrupted();
  }
}
