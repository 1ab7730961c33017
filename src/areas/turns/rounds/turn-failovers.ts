import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { json, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import type { Failover } from '../turn.entity.js';

/** More would be noise: a chain is short, and a turn calls its models a few times. */
const MOST = 50;

const NOTE = statement({
  name: 'turns.note_failover',
  params: { turn: text, session: text, model: text, reason: text },
  row: {},
  sql: `
    UPDATE turns SET failovers = coalesce(failovers, '[]'::jsonb) || jsonb_build_object('model', :model::text, 'reason', :reason::text)
    WHERE id = :turn AND session_id = :session
      AND jsonb_array_length(coalesce(failovers, '[]'::jsonb)) < ${MOST}`,
});

interface TurnOfSession {
  readonly turnId: string;
  readonly sessionId: string;
}

const NOTE_UNSEEN = statement({
  name: 'turns.note_unseen_media',
  params: { turn: text, session: text, mimeTypes: json() },
  row: {},
  sql: 'UPDATE turns SET unseen_media = :mimeTypes WHERE id = :turn AND session_id = :session',
});

/** Stores with a turn which models failed in it, for operators, and what the answering model was not shown. */
@Injectable()
export class TurnFailovers {
  private readonly logger: Logger;

  constructor(
    private readonly database: Database,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::provider');
  }

  /** No turn waits for it. */
  note({ turnId, sessionId }: TurnOfSession, { model, reason }: Failover): void {
    this.database.query(NOTE, { turn: turnId, session: sessionId, model, reason }).catch((error: unknown) => {
      this.logger.debug('the failed models could not be stored with the turn', {
        ...{ turn_id: turnId, model, error: String(error) },
      });
    });
  }

  /**
   * The media types of what came with the message and is not shown to the model; the sender of the answer tells its
   * reader.
   */
  async noteUnseen({ turnId, sessionId }: TurnOfSession, mimeTypes: readonly string[]): Promise<void> {
    const given = { turn: turnId, session: sessionId, mimeTypes: JSON.stringify(mimeTypes) };
    await this.database.query(NOTE_UNSEEN, given);
  }
}
