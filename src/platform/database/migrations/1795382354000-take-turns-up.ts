import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What another replica needs to go on with a turn: how it began, and how often it was tried since its last step. */
export class TakeTurnsUp1795382354000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE turns ADD COLUMN origin json, ADD COLUMN attempts integer NOT NULL DEFAULT 1,
         ADD COLUMN take_ups integer NOT NULL DEFAULT 0,
         ADD COLUMN attempt_at timestamptz(3)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE turns DROP COLUMN origin, DROP COLUMN attempts, DROP COLUMN take_ups, DROP COLUMN attempt_at`,
    );
  }
}
