import { Injectable } from '@nestjs/common';
import { type GatewayError, ReplayedError, type StoredError } from '../../common/errors/gateway-error.js';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import {
  type LiveTurn,
  MESSAGE_COLUMNS,
  type Message,
  type MessageRow,
  type TurnFailure,
  TurnNotRepeated,
  toMessage,
} from '../turns/turns.api.js';
import { errorOf, replayed } from './past-turns.js';

/** A turn as the database has it, whoever ran it. */
export interface TurnRecord {
  readonly sessionId: string;
  readonly userMessageId: string;
  readonly status: 'waiting' | 'running' | 'over';
  /** Whether it was accepted while it waited. */
  readonly isAccepted: boolean;
  /** What it said; of a turn that failed, as far as it came. */
  readonly answer: Message | undefined;
  /** What whoever waited was told instead of an answer. */
  readonly error: GatewayError | undefined;
}

interface TurnRow {
  session_id: string;
  user_message_id: string;
  turn_status: TurnFailure | 'completed' | 'running' | 'waiting';
  failure: StoredError | null;
  accepted: boolean;
}

type RecordRow = TurnRow & (MessageRow | { id: null });

const FIND: Statement = {
  name: 'turns.record',
  text: `
    SELECT turns.session_id, turns.user_message_id, turns.status AS turn_status, turns.failure,
      turns.caller IS NOT NULL AS accepted, said.*
    FROM turns LEFT JOIN LATERAL (
      SELECT ${MESSAGE_COLUMNS} FROM messages
      WHERE session_id = turns.session_id AND turn_id = turns.id AND role = 'assistant'
        AND seq > (SELECT asked.seq FROM messages AS asked WHERE asked.id = turns.user_message_id)
      ORDER BY seq LIMIT 1) AS said ON true
    WHERE turns.id = $1`,
};

/** Finds a turn again by its id, so that what came of it can be told a second time. */
@Injectable()
export class TurnRecords {
  constructor(private readonly database: Database) {}

  /** Undefined for a turn that left the line without having begun. */
  async find(turnId: string): Promise<TurnRecord | undefined> {
    const [row] = await this.database.query<RecordRow>(FIND, [turnId]);
    if (row === undefined) return undefined;
    const { session_id: sessionId, user_message_id: userMessageId, turn_status: status } = row;
    return {
      sessionId,
      userMessageId,
      status: status === 'waiting' || status === 'running' ? status : 'over',
      isAccepted: row.accepted,
      answer: row.id === null ? undefined : toMessage(row),
      error: replayedInstead(row),
    };
  }

  /** The same as viewers are shown it. */
  live(turnId: string, { sessionId, answer: said, error }: TurnRecord): LiveTurn {
    return replayed(sessionId, turnId, said, error);
  }
}

function replayedInstead({ turn_status: status, failure }: TurnRow): GatewayError | undefined {
  if (status === 'completed' || status === 'running' || status === 'waiting') return undefined;
  if (status === 'interrupted') return new TurnNotRepeated();
  return failure === null ? errorOf(status) : new ReplayedError(failure);
}
