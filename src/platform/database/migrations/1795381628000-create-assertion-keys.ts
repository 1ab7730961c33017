import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The keys with which all replicas sign statements about users for tool servers; the private halves are sealed. */
export class CreateAssertionKeys1795381628000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE assertion_keys (
        kid text COLLATE "C" PRIMARY KEY,
        public_key json NOT NULL,
        sealed_key text NOT NULL,
        signs_at timestamptz(3) NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE assertion_keys');
  }
}
