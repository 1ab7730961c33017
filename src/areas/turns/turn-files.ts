import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import { boolean, bytes, integer, type RowOf, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { TurnFileEntity } from './turn-file.entity.js';

/** The most files that one answer has besides its text. */
export const MAX_ANSWER_FILES = 10;
export const MAX_ANSWER_FILE_BYTES = 20 * 1024 * 1024;
/** How many files are listed at most. */
const MAX_LISTED = 100;
/** Files of a turn that ended this long ago are no longer needed: an answer is given up after a day. */
const KEPT_DAYS = 3;
const MAX_PRUNED = 200;
/** Enough to tell what kind of picture a file is. */
const HEAD_BYTES = 16;

/** Identifies a file of a turn. */
interface TurnFileKey {
  readonly turnId: string;
  readonly step: number;
  readonly place: number;
}

/** A file that a tool made for the people of a conversation. */
const TURN_FILE = {
  ...{ turnId: text, step: integer, place: integer, name: text, mimeType: text },
  /** False for a file that was too much for one answer: it is only named. */
  isKept: boolean,
};
export type TurnFile = RowOf<typeof TURN_FILE>;

/** What is known of a file without reading it. */
export interface FileHead {
  readonly sizeBytes: number;
  readonly head: Buffer;
}

const OF_TURN = statement({
  name: 'turn_files.of_turn',
  params: { turn: text },
  row: TURN_FILE,
  sql: `
    SELECT turn_id AS "turnId", step, place, name, mime_type AS "mimeType", data IS NOT NULL AS "isKept"
    FROM turn_files WHERE turn_id = :turn ORDER BY step, place LIMIT ${MAX_LISTED}`,
});
const READ = statement({
  name: 'turn_files.read',
  params: { turn: text, step: integer, place: integer },
  row: columnsOf(TurnFileEntity, 'data'),
  sql: 'SELECT data FROM turn_files WHERE turn_id = :turn AND step = :step AND place = :place',
});
const HEAD = statement({
  name: 'turn_files.head',
  params: { turn: text, step: integer, place: integer },
  row: { sizeBytes: integer, head: bytes },
  sql: `
    SELECT octet_length(data) AS "sizeBytes", substring(data FROM 1 FOR ${HEAD_BYTES}) AS head FROM turn_files
    WHERE turn_id = :turn AND step = :step AND place = :place AND data IS NOT NULL`,
});
const FORGET = statement({
  name: 'turn_files.forget',
  params: { turn: text },
  row: {},
  sql: 'DELETE FROM turn_files WHERE turn_id = :turn',
});
const FORGET_ONE = statement({
  name: 'turn_files.forget_one',
  params: { turn: text, step: integer, place: integer },
  row: {},
  sql: 'DELETE FROM turn_files WHERE turn_id = :turn AND step = :step AND place = :place',
});
/** Files left by a replica that died after it had sent them. */
const PRUNE = statement({
  name: 'turn_files.prune',
  params: {},
  row: { turn_id: text },
  sql: `
    DELETE FROM turn_files WHERE (turn_id, step, place) IN (
      SELECT old.turn_id, old.step, old.place FROM turn_files AS old JOIN turns ON turns.id = old.turn_id
      WHERE turns.ended_at < now() - interval '${KEPT_DAYS} days' LIMIT ${MAX_PRUNED})
    RETURNING turn_id`,
});

/**
 * The files that tools made in a turn. They are stored with the result of their call, and deleted when people have
 * them.
 */
@Injectable()
export class TurnFiles {
  constructor(private readonly database: Database) {}

  /** In the order in which they were made. */
  of(turnId: string): Promise<TurnFile[]> {
    return this.database.query(OF_TURN, { turn: turnId });
  }

  /** Undefined for a file that was deleted. */
  async read({ turnId, step, place }: TurnFileKey): Promise<Buffer | undefined> {
    const [row] = await this.database.query(READ, { turn: turnId, step, place });
    return row?.data ?? undefined;
  }

  /** Its size and first bytes; undefined for one that is gone. */
  async head({ turnId, step, place }: TurnFileKey): Promise<FileHead | undefined> {
    const [row] = await this.database.query(HEAD, { turn: turnId, step, place });
    return row;
  }

  async forget(turnId: string): Promise<void> {
    await this.database.query(FORGET, { turn: turnId });
  }

  async forgetOne({ turnId, step, place }: TurnFileKey): Promise<void> {
    await this.database.query(FORGET_ONE, { turn: turnId, step, place });
  }

  /** @returns whether there may be more */
  async prune(): Promise<boolean> {
    return (await this.database.query(PRUNE)).length === MAX_PRUNED;
  }
}
