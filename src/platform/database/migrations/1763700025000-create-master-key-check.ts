import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One sealed word, so that a replica with another master key is noticed at its start. */
export class CreateMasterKeyCheck1763700025000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE master_key_check (
        id smallint PRIMARY KEY CHECK (id = 1),
        sealed text NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE master_key_check`);
  }
}
