import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which ended sessions have lost their texts to `agent.content_retention_days`, and an index for those that have not.
 */
export class RemoveOldContent1795384089000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sessions ADD COLUMN content_removed_at timestamptz(3)');
    await runner.query(`
      CREATE INDEX sessions_with_content ON sessions (ended_at)
      WHERE status = 'terminated' AND content_removed_at IS NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sessions DROP COLUMN content_removed_at');
  }
}
