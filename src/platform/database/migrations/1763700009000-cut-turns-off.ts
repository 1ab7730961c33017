import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks answers that were cut off, and turns that another replica is to cancel. */
export class CutTurnsOff1763700009000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE sessions ADD COLUMN cancel_fence bigint`);
    await runner.query(`
      ALTER TABLE messages ADD COLUMN incomplete text
        CONSTRAINT messages_incomplete_check CHECK (incomplete IN ('cancelled', 'interrupted', 'failed'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE messages DROP COLUMN incomplete`);
    await runner.query(`ALTER TABLE sessions DROP COLUMN cancel_fence`);
  }
}
