import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../logging/logger.js';
import { Database } from './database.js';
import { isDiskFull } from './database-failure.js';
import { statement } from './statement.js';

/** Milliseconds for one attempt to store something. */
const PROBE_TIMEOUT_MS = 2000;

/** Allocates pages on the server's disk and releases them: a full disk refuses that, while reads still work. */
const CREATE_PAGES = statement({
  name: 'database.probe_storage',
  timeoutMs: PROBE_TIMEOUT_MS,
  params: {},
  row: {},
  sql: `
    CREATE TEMPORARY TABLE storage_probe ON COMMIT DROP AS
    SELECT string_agg(md5(n::text), '') AS filler FROM generate_series(1, 4096) AS n`,
});

/**
 * Knows whether the database can store anything. With a full disk only writes fail, so a check that only reads does not
 * notice. This one remembers a write that failed for lack of room, logs it once, and then tries to store something each
 * time `problem` is called, until it succeeds.
 */
@Injectable()
export class StorageWatch {
  private isFull = false;
  private readonly logger: Logger;

  constructor(
    private readonly database: Database,
    logs: Logs,
  ) {
    this.logger = logs.for('database');
    database.onFailure((error) => this.note(error));
  }

  /** @returns what is wrong, for `/readyz`; undefined when no problem is known. Never throws. */
  async problem(): Promise<string | undefined> {
    if (!this.isFull) return undefined;
    try {
      await this.database.transaction((runner) => runner.query(CREATE_PAGES));
      this.isFull = false;
      this.logger.info('the database has room on its disk again');
      return undefined;
    } catch {
      return 'its disk is full: nothing can be stored';
    }
  }

  private note(error: unknown): void {
    if (this.isFull || !isDiskFull(error)) return;
    this.isFull = true;
    this.logger.error(
      "the database's disk is full: whatever has to store something fails; free space on it or make the volume larger",
      { cause: error instanceof Error ? error.message : String(error) },
    );
  }
}
