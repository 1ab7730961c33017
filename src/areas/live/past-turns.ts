import { Injectable } from '@nestjs/common';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import {
  LiveTurn,
  MESSAGE_COLUMNS,
  type Message,
  type MessageRow,
  TurnCancelled,
  type TurnFailure,
  TurnInterrupted,
  type TurnStatus,
  TurnUnanswered,
  toMessage,
} from '../turns/turns.api.js';

interface PastRow extends MessageRow {
  turn_id: string;
}

const STATUS: Statement = {
  name: 'live.turn_status',
  text: `SELECT status, reason FROM turns WHERE id = $2 AND session_id = $1`,
};
/** At most `$3` answers from turn `$2` on. */
const SINCE: Statement = {
  name: 'live.answers_since',
  text: `
    SELECT turn_id, ${MESSAGE_COLUMNS} FROM messages
    WHERE session_id = $1 AND role = 'assistant' AND seq > (
      SELECT said.seq FROM turns JOIN messages said ON said.id = turns.user_message_id
      WHERE turns.id = $2 AND turns.session_id = $1)
    ORDER BY seq LIMIT $3`,
};

/** Turns that are over, told once more from the history as they would have been told live. */
@Injectable()
export class PastTurns {
  constructor(private readonly database: Database) {}

  /** Undefined when the session has no such turn. */
  async statusOf(sessionId: string, turnId: string): Promise<TurnStatus | undefined> {
    return (await this.database.query<{ status: TurnStatus }>(STATUS, [sessionId, turnId]))[0]?.status;
  }

  /** From this turn on, oldest first, at most `most`; one that failed without a word only when it is this one. */
  async since(sessionId: string, turnId: string, most: number): Promise<LiveTurn[]> {
    const rows = await this.database.query<PastRow>(SINCE, [sessionId, turnId, most]);
    const turns = rows.map((row) => {
      const answer = toMessage(row);
      return replayed(
        sessionId,
        row.turn_id,
        answer,
        answer.incomplete === null ? undefined : errorOf(answer.incomplete),
      );
    });
    if (rows[0]?.turn_id === turnId) return turns;
    const status = await this.statusOf(sessionId, turnId);
    return status === undefined || status === 'running' || status === 'waiting'
      ? turns
      : [
          replayed(sessionId, turnId, undefined, errorOf(status === 'completed' ? 'failed' : status)),
          ...turns,
        ];
  }
}

/** A turn that is over, as it would have been told live: what it said, then how it ended. */
export function replayed(
  sessionId: string,
  turnId: string,
  answer: Message | undefined,
  error: GatewayError | undefined,
): LiveTurn {
  const turn = new LiveTurn(sessionId, turnId);
  if (answer !== undefined && answer.content !== '')
    void turn.publish({ type: 'token', text: answer.content });
  if (error !== undefined) void turn.publish({ type: 'error', error });
  else if (answer !== undefined) void turn.publish({ type: 'done', message: answer });
  return turn;
}

export function errorOf(how: TurnFailure): GatewayError {
  switch (how) {
    case 'cancelled':
      return new TurnCancelled('The answer to this message was cancelled.');
    case 'interrupted':
      return new TurnInterrupted();
    case 'failed':
      return new TurnUnanswered();
    default:
      return how satisfies never;
  }
}
