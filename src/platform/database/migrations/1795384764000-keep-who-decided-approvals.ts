import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whoever decides second is told who decided first, and operators see pages of what waits. */
export class KeepWhoDecidedApprovals1795384764000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE tool_approvals ADD COLUMN decided_by text, ADD COLUMN decided_at timestamptz(3), ADD COLUMN reason text`,
    );
    await runner.query(`CREATE INDEX tool_approvals_asked ON tool_approvals (asked_at DESC, id DESC)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX tool_approvals_asked`);
    await runner.query(
      `ALTER TABLE tool_approvals DROP COLUMN decided_by, DROP COLUMN decided_at, DROP COLUMN reason`,
    );
  }
}
