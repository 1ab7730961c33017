import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which agent answers in a session. Existing sessions belong to the only agent that there was. */
export class BindSessionsToAgents1795379487000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE sessions ADD COLUMN agent text NOT NULL DEFAULT 'default'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sessions DROP COLUMN agent');
  }
}
