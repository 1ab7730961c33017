import { Injectable } from '@nestjs/common';
import { type GatewayError, ReplayedError, type StoredError } from '../../common/errors/gateway-error.js';
import { Database } from '../../platform/database/database.js';
import { bigint, boolean, json, nullable, oneOf, orNull, text } from '../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../platform/database/statement.js';
import type { ModelUsage } from '../models/models.api.js';
import {
  LiveTurn,
  MESSAGE_COLUMNS,
  MESSAGE_ROW,
  type Message,
  type MessageRow,
  TurnCancelled,
  type TurnFailure,
  TurnInterrupted,
  TurnNotRepeated,
  type TurnStatus,
  TurnUnanswered,
  toMessage,
} from '../turns/turns.api.js';

/** A turn as it is stored, whichever replica ran it. */
export interface TurnRecord {
  readonly sessionId: string;
  readonly userMessageId: string;
  readonly status: 'waiting' | 'running' | 'over';
  readonly outcome: TurnStatus;
  /** Whether it runs no further until a person decides. */
  readonly awaitsApproval: boolean;
  /** Whether its message was answered with 202 (`Prefer: respond-async`) and waited in the queue. */
  readonly isAccepted: boolean;
  /** Its answer; of a turn that did not complete, what it had said. */
  readonly answer: Message | undefined;
  /** What the caller got instead of an answer. */
  readonly error: GatewayError | undefined;
}

const USAGE = `json_build_object('input', turns.input_tokens, 'output', turns.output_tokens,
        'cachedInput', turns.cached_input_tokens, 'reasoning', turns.reasoning_tokens)`;
const FIND = statement({
  name: 'turns.record_with_usage',
  params: { turn: text },
  row: {
    ...{ session_id: text, user_message_id: text, turn_status: oneOf<TurnStatus>() },
    ...{ failure: nullable(json<StoredError>()), accepted: boolean, usage: json<ModelUsage>() },
    ...orNull(MESSAGE_ROW),
  },
  sql: `
    SELECT turns.session_id, turns.user_message_id, turns.status AS turn_status, turns.failure,
      turns.caller IS NOT NULL AS accepted, ${USAGE} AS usage, said.*
    FROM turns LEFT JOIN LATERAL (
      SELECT ${MESSAGE_COLUMNS} FROM messages
      WHERE session_id = turns.session_id AND turn_id = turns.id AND role = 'assistant'
        AND seq > (SELECT asked.seq FROM messages AS asked WHERE asked.id = turns.user_message_id)
      ORDER BY seq LIMIT 1) AS said ON true
    WHERE turns.id = :turn`,
});

/** Finds a turn by its id, so that its outcome can be replayed. */
@Injectable()
export class TurnRecords {
  constructor(private readonly database: Database) {}

  /** Undefined for a turn that left the queue before it began. */
  async find(turnId: string): Promise<TurnRecord | undefined> {
    const [row] = await this.database.query(FIND, { turn: turnId });
    if (row === undefined) return undefined;
    const { session_id: sessionId, user_message_id: userMessageId, turn_status: status } = row;
    return {
      sessionId,
      userMessageId,
      status: phaseOf(status),
      awaitsApproval: status === 'awaiting_approval',
      isAccepted: row.accepted,
      outcome: status,
      answer: hasAnswer(row) ? { ...toMessage(row), usage: row.usage } : undefined,
      error: replayedInstead(row),
    };
  }

  /** The same turn as viewers are shown it. */
  live(turnId: string, { sessionId, answer: said, error }: TurnRecord): LiveTurn {
    return replayed(sessionId, turnId, said, error);
  }
}

type RecordRow = RowOfStatement<typeof FIND>;

function hasAnswer(row: RecordRow): row is RecordRow & MessageRow {
  return row.id !== null;
}

function replayedInstead({ turn_status: status, failure }: RecordRow): GatewayError | undefined {
  if (status === 'completed' || !isOver(status)) return undefined;
  if (status === 'interrupted') return new TurnNotRepeated();
  return failure === null ? errorOf(status) : new ReplayedError(failure);
}

const STATUS = statement({
  name: 'live.turn_status',
  params: { session: text, turn: text },
  row: { status: oneOf<TurnStatus>(), reason: nullable(text) },
  sql: `SELECT status, reason FROM turns WHERE id = :turn AND session_id = :session`,
});
/** The answers from this turn on. */
const SINCE = statement({
  name: 'live.answers_since',
  params: { session: text, turn: text, most: bigint },
  row: { turn_id: text, ...MESSAGE_ROW },
  sql: `
    SELECT turn_id, ${MESSAGE_COLUMNS} FROM messages
    WHERE session_id = :session AND role = 'assistant' AND seq > (
      SELECT said.seq FROM turns JOIN messages said ON said.id = turns.user_message_id
      WHERE turns.id = :turn AND turns.session_id = :session)
    ORDER BY seq LIMIT :most`,
});

/** Turns that are over, replayed from the history as viewers would have seen them live. */
@Injectable()
export class PastTurns {
  constructor(private readonly database: Database) {}

  /** Undefined when the session has no such turn. */
  async statusOf(sessionId: string, turnId: string): Promise<TurnStatus | undefined> {
    return (await this.database.query(STATUS, { session: sessionId, turn: turnId }))[0]?.status;
  }

  /** At most `most` turns from this one on, oldest first. A turn without any answer is included only if it is this one. */
  async since(sessionId: string, turnId: string, most: number): Promise<LiveTurn[]> {
    const rows = await this.database.query(SINCE, { session: sessionId, turn: turnId, most });
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
    return status === undefined || !isOver(status)
      ? turns
      : [
          replayed(sessionId, turnId, undefined, errorOf(status === 'completed' ? 'failed' : status)),
          ...turns,
        ];
  }
}

function phaseOf(status: TurnStatus): TurnRecord['status'] {
  if (isOver(status)) return 'over';
  return status === 'waiting' ? status : 'running';
}

function isOver(status: TurnStatus): status is TurnFailure | 'completed' {
  return status !== 'waiting' && status !== 'running' && status !== 'awaiting_approval';
}

/** A turn that is over, as viewers would have seen it live: what it said, then how it ended. */
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

function errorOf(how: TurnFailure): GatewayError {
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
