import { ADVISORY_LOCKS } from '../../../platform/database/advisory-locks.js';
import type { Database } from '../../../platform/database/database.js';
import type { Statement } from '../../../platform/database/sql.js';
import { folderOf } from './user-folders.js';

const MOST = 500;

/** One after the other, so that ids become visible in their order: who has read one has seen all before it. */
const LOCK: Statement = {
  name: 'erased_folders.lock',
  text: `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.notingErasedFolders})`,
};
const NOTE: Statement = {
  name: 'erased_folders.note',
  text: 'INSERT INTO erased_folders (folder) VALUES ($1)',
};
const SINCE: Statement = {
  name: 'erased_folders.since',
  text: `SELECT id::int8::float8 AS id, folder FROM erased_folders WHERE id > $1 ORDER BY id LIMIT ${MOST}`,
};
/** The newest, or 0. */
export const NEWEST_ERASED_FOLDER = '(SELECT coalesce(max(id), 0)::float8 FROM erased_folders)';

export interface ErasedFolder {
  readonly id: number;
  readonly folder: string;
}

/** Which folders of users are to be deleted, on all machines that have one. */
export class ErasedFolders {
  constructor(private readonly database: Database) {}

  /** Every replica deletes the folders of this user within seconds; one that is away does so at its start. */
  async note(userId: string): Promise<void> {
    await this.database.transaction(async (runner) => {
      await runner.query(LOCK);
      await runner.query(NOTE, [folderOf(userId)]);
    });
  }

  /** Those behind this one, at most 500. */
  since(id: number): Promise<readonly ErasedFolder[]> {
    return this.database.query<{ id: number; folder: string }>(SINCE, [id]);
  }
}
