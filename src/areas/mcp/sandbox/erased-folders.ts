import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '../../../platform/database/advisory-locks.js';
import { Database } from '../../../platform/database/database.js';
import { columnsOf } from '../../../platform/database/entity-columns.js';
import { bigint, double, text } from '../../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../../platform/database/statement.js';
import { dueQuestion } from '../../../platform/runtime/due-question.js';
import { ErasedFolderEntity } from './erased-folder.entity.js';
import { folderOf } from './user-folders.js';

const MOST = 500;

/** One after the other, so that ids become visible in order: a reader who has seen one id has seen all before it. */
const LOCK = statement({
  name: 'erased_folders.lock',
  params: {},
  row: {},
  sql: `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.notingErasedFolders})`,
});
const NOTE = statement({
  name: 'erased_folders.note',
  params: { folder: text },
  row: {},
  sql: 'INSERT INTO erased_folders (folder) VALUES (:folder)',
});
const SINCE = statement({
  name: 'erased_folders.since',
  params: { id: bigint },
  row: { id: double, ...columnsOf(ErasedFolderEntity, 'folder') },
  sql: `SELECT id::int8::float8 AS id, folder FROM erased_folders WHERE id > :id ORDER BY id LIMIT ${MOST}`,
});
/** The newest, or 0. */
export const NEWEST_ERASED_FOLDER = dueQuestion({
  name: 'erased_folders',
  params: {},
  answer: double,
  sql: '(SELECT coalesce(max(id), 0)::float8 FROM erased_folders)',
});

export type ErasedFolder = RowOfStatement<typeof SINCE>;

/** Which folders of users are to be deleted, on all machines that have one. */
@Injectable()
export class ErasedFolders {
  constructor(private readonly database: Database) {}

  /** Every replica deletes the folders of this user within seconds; one that is away does so at its start. */
  async note(userId: string): Promise<void> {
    await this.database.transaction(async (runner) => {
      await runner.query(LOCK);
      await runner.query(NOTE, { folder: folderOf(userId) });
    });
  }

  /** The folders after this one, at most 500. */
  since(id: number): Promise<readonly ErasedFolder[]> {
    return this.database.query(SINCE, { id });
  }
}
