import { Injectable } from '@nestjs/common';
import { storedError } from '../../common/errors/gateway-error.js';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import { nullable, oneOf, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import type { FinishReason } from '../models/models.api.js';
import { CANCEL_UNWANTED } from './accepted/accepted-turns.sql.js';
import { MessageEntity } from './message.entity.js';
import { TurnEntity } from './turn.entity.js';
import { LEAVE_QUEUE } from './turn-start.sql.js';
import type { TurnStatus } from './turn-status.js';
import { TurnStopped } from './turns.errors.js';

/** What became of a message. */
export interface TurnResult {
  readonly sessionId: string;
  readonly turnId: string;
  readonly status: TurnStatus;
  /** A fixed word, when it failed. */
  readonly reason: string | null;
  /** The answer, also a partial one; null when there is none. */
  readonly content: string | null;
  /** Why the model stopped; null when there is no whole answer. */
  readonly finishReason: FinishReason | null;
  /** Media types of what came with the message and was not shown to the model that answered. */
  readonly unseenMedia: readonly string[];
}

const RESULT = statement({
  name: 'turns.result_of_message',
  params: { message: text },
  row: {
    ...columnsOf(TurnEntity, 'status', 'reason', 'unseenMedia'),
    ...columnsOf(MessageEntity, 'sessionId', 'turnId'),
    ...{ content: nullable(text), finish_reason: nullable(oneOf<FinishReason>()) },
  },
  sql: `
    SELECT said.session_id, said.turn_id, turns.status, turns.reason, answer.content, answer.finish_reason,
      turns.unseen_media
    FROM messages AS said JOIN turns ON turns.id = said.turn_id LEFT JOIN LATERAL (
      SELECT content, finish_reason FROM messages
      WHERE session_id = said.session_id AND seq > said.seq AND turn_id = said.turn_id
      ORDER BY seq LIMIT 1) AS answer ON true
    WHERE said.id = :message`,
});

/** Finds the turn of a message for a sender that has lost track of it. */
@Injectable()
export class TurnResults {
  constructor(private readonly database: Database) {}

  /** By the id of the user message. Undefined when no turn was begun for it. */
  async of(userMessageId: string): Promise<TurnResult | undefined> {
    const [row] = await this.database.query(RESULT, { message: userMessageId });
    if (row === undefined) return undefined;
    const { session_id: sessionId, turn_id: turnId, status, reason, content } = row;
    const finishReason = row.finish_reason;
    const unseenMedia = row.unseen_media ?? [];
    return { sessionId, turnId, status, reason, content, finishReason, unseenMedia };
  }

  /** Takes a message out of its session's line, so that it can be sent again. */
  async forgetWaiting({ turnId, sessionId }: Pick<TurnResult, 'turnId' | 'sessionId'>): Promise<void> {
    await this.database.query(LEAVE_QUEUE, { turn: turnId, session: sessionId });
  }

  /**
   * The same for a message that has to stay findable: it stays in the history, without an answer. False when it does
   * not wait.
   */
  async cancelWaiting(turnId: string): Promise<boolean> {
    const failure = JSON.stringify(storedError(new TurnStopped()));
    return (await this.database.query(CANCEL_UNWANTED, { turn: turnId, failure })).length > 0;
  }
}
