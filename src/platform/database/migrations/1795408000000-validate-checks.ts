import type { MigrationInterface, QueryRunner } from 'typeorm';

const ADDED = [
  ['messages', 'messages_finish_reason_check'],
  ['turns', 'turns_status_check'],
] as const;

/**
 * Reads large tables once for the checks that earlier migrations added to them. Others read and write meanwhile; in the
 * transaction that adds a check they would all wait.
 */
export class ValidateChecks1795408000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const [table, check] of ADDED)
      await runner.query(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${check}`);
  }

  /** Checks that hold do no harm to what was before. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
