import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A token may be limited to some agents; null means all. */
export class BindTokensToAgents1795384222000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_tokens ADD COLUMN agents json');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_tokens DROP COLUMN agents');
  }
}
