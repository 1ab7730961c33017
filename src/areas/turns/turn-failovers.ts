import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';

/** More would be noise: a chain is short, and a turn calls its models a few times. */
const MOST = 50;

const NOTE: Statement = {
  name: 'turns.note_failover',
  text: `
    UPDATE turns SET failovers = coalesce(failovers, '[]'::jsonb) || jsonb_build_object('model', $2::text, 'reason', $3::text)
    WHERE id = $1 AND jsonb_array_length(coalesce(failovers, '[]'::jsonb)) < ${MOST}`,
};

/** A model that failed before another one answered. */
export interface Failover {
  readonly model: string;
  readonly reason: string;
}

/** Writes down with a turn which models failed in it, for operators. No turn waits for it. */
@Injectable()
export class TurnFailovers {
  private readonly logger: Logger;

  constructor(
    private readonly database: Database,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::provider');
  }

  note(turnId: string, { model, reason }: Failover): void {
    this.database.query(NOTE, [turnId, model, reason]).catch((error: unknown) => {
      this.logger.debug('which model failed could not be stored with the turn', {
        ...{ turn_id: turnId, model, error: String(error) },
      });
    });
  }
}
