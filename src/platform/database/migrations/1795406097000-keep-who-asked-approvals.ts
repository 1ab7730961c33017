import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whose message led to a call that waits, so that they can be kept from deciding it themselves. */
export class KeepWhoAskedApprovals1795406097000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tool_approvals ADD COLUMN asked_by text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE tool_approvals DROP COLUMN asked_by`);
  }
}
