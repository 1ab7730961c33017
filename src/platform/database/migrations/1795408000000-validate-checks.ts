import type { MigrationInterface, QueryRunner } from 'typeorm';

const ADDED = [
  ['messages', 'messages_finish_reason_check'],
  ['turns', 'turns_status_check'],
] as const;

/**
 * Reads large tables once for the checks that earlier migrations added. Others can read and write meanwhile; in the
 * transaction that adds a check they would all wait.
 */
export class ValidateChecks1795408000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const [table, check] of ADDED)
      await runner.query(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${check}`);
  }

  /** Earlier versions can work with checks that hold, so there is nothing to undo. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
