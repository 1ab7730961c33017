import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { columnsOf } from '../../../platform/database/entity-columns.js';
import { integer, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import { HELD_LEASE, LEASE_PARAMS, leaseParams, type TurnLease } from '../turn-lease.js';
import { TurnInterrupted } from '../turns.errors.js';
import type { ContextCut } from './context-cut.js';
import { ConversationSummaryEntity } from './conversation-summary.entity.js';

const CUT_PARAMS = { ...LEASE_PARAMS, messages: integer, results: integer };
const CUT = statement({
  name: 'context_cuts.store',
  params: CUT_PARAMS,
  row: { id: text },
  sql: `
    UPDATE sessions SET messages_cut = :messages, results_cut = :results
    WHERE ${HELD_LEASE} RETURNING id`,
});

/** The same with the summary of the messages from the place `first` on. */
const CUT_AND_SUM_UP = statement({
  name: 'context_cuts.store_summary',
  params: { ...CUT_PARAMS, first: integer, ...columnsOf(ConversationSummaryEntity, 'model', 'content') },
  row: columnsOf(ConversationSummaryEntity, 'sessionId'),
  sql: `
    WITH held AS (
      UPDATE sessions SET messages_cut = :messages, results_cut = :results
      WHERE ${HELD_LEASE} RETURNING id
    )
    INSERT INTO conversation_summaries (session_id, first_seq, last_seq, model, content)
    SELECT id, :first, :messages, :model, :content FROM held
    ON CONFLICT (session_id, last_seq) DO UPDATE SET content = excluded.content, model = excluded.model
    RETURNING session_id`,
});

/** The newest `Summary` of a session, as SQL; null when nothing of it was ever summarised. */
export const newestSummary = (sessionId: string): string => `(
    SELECT json_build_object('first', first_seq, 'last', last_seq, 'content', content, 'model', model)
    FROM conversation_summaries WHERE session_id = ${sessionId} ORDER BY last_seq DESC LIMIT 1)`;

/** What replaces the oldest messages of a session, by their places in its history. */
export interface Summary {
  readonly first: number;
  readonly last: number;
  readonly content: string;
  /** The model that wrote it. */
  readonly model: string;
}

/** The statements about the part of a session's history that is no longer sent to the model. */
@Injectable()
export class ContextCutsStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** Holds for this turn and later ones. Throws `TurnInterrupted` when the lease was lost. */
  async store(lease: TurnLease, cut: ContextCut, summary?: Summary): Promise<void> {
    const given = { ...leaseParams(lease, this.replica), ...cut };
    const stored =
      summary === undefined
        ? await this.database.query(CUT, given)
        : await this.database.query(CUT_AND_SUM_UP, { ...given, ...summary });
    if (stored.length === 0) throw new TurnInterrupted();
  }
}
