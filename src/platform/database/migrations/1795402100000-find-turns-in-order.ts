import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Operators look up turns, newest first and over time; a turn says which models failed before another one answered.
 * Building the index stops writes to the table: seconds for a million turns.
 */
export class FindTurnsInOrder1795402100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE turns ADD COLUMN failovers jsonb`);
    await runner.query(`CREATE INDEX turns_newest ON turns (created_at DESC, id DESC)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX turns_newest`);
    await runner.query(`ALTER TABLE turns DROP COLUMN failovers`);
  }
}
