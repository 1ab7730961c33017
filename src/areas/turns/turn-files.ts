import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';

/** What one answer may bring beside its text. */
export const MAX_ANSWER_FILES = 10;
export const MAX_ANSWER_FILE_BYTES = 20 * 1024 * 1024;
/** Names of files that are told at most; an answer with more says how many there are. */
const MAX_LISTED = 100;
/** Files of a turn that ended so long ago are nobody's: an answer is given up after a day. */
const KEPT_DAYS = 3;
const MAX_PRUNED = 200;

/** Where a file of a turn is found. */
interface TurnFileKey {
  readonly turnId: string;
  readonly step: number;
  readonly place: number;
}

/** A file that a tool made for the people of a conversation. */
export interface TurnFile extends TurnFileKey {
  readonly name: string;
  readonly mimeType: string;
  /** False for one that was too much for one answer: it is named only. */
  readonly isKept: boolean;
}

const OF_TURN: Statement = {
  name: 'turn_files.of_turn',
  text: `
    SELECT turn_id AS "turnId", step, place, name, mime_type AS "mimeType", data IS NOT NULL AS "isKept"
    FROM turn_files WHERE turn_id = $1 ORDER BY step, place LIMIT ${MAX_LISTED}`,
};
const READ: Statement = {
  name: 'turn_files.read',
  text: 'SELECT data FROM turn_files WHERE turn_id = $1 AND step = $2 AND place = $3',
};
const FORGET: Statement = {
  name: 'turn_files.forget',
  text: 'DELETE FROM turn_files WHERE turn_id = $1',
};
/** Left by a replica that died after it had sent them. */
const PRUNE: Statement = {
  name: 'turn_files.prune',
  text: `
    DELETE FROM turn_files WHERE (turn_id, step, place) IN (
      SELECT old.turn_id, old.step, old.place FROM turn_files AS old JOIN turns ON turns.id = old.turn_id
      WHERE turns.ended_at < now() - interval '${KEPT_DAYS} days' LIMIT ${MAX_PRUNED})
    RETURNING turn_id`,
};

/** The files that tools made in a turn. They are stored with the result of their call, and go when people have them. */
@Injectable()
export class TurnFiles {
  constructor(private readonly database: Database) {}

  /** In the order in which they were made. */
  of(turnId: string): Promise<TurnFile[]> {
    return this.database.query<TurnFile & Record<string, unknown>>(OF_TURN, [turnId]);
  }

  /** Undefined for one that is gone. */
  async read({ turnId, step, place }: TurnFileKey): Promise<Buffer | undefined> {
    const [row] = await this.database.query<{ data: Buffer | null }>(READ, [turnId, step, place]);
    return row?.data ?? undefined;
  }

  async forget(turnId: string): Promise<void> {
    await this.database.query(FORGET, [turnId]);
  }

  /** @returns whether there may be more */
  async prune(): Promise<boolean> {
    return (await this.database.query(PRUNE, [])).length === MAX_PRUNED;
  }
}
