import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How a message that waits wants to be answered, for whichever replica answers it. */
export class KeepMessageOptions1795371138000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE turns ADD COLUMN options json`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE turns DROP COLUMN options`);
  }
}
