import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The options with which a waiting message is to be answered, for the replica that will answer it. */
export class KeepMessageOptions1795371138000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE turns ADD COLUMN options json`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE turns DROP COLUMN options`);
  }
}
