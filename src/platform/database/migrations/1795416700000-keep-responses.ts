import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a client of OpenAI's Responses asked for, besides the message of its turn, because answers repeat it. */
export class KeepResponses1795416700000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE responses (
        turn_id text COLLATE "C" PRIMARY KEY
          CONSTRAINT responses_turn_id_fkey REFERENCES turns (id) ON DELETE CASCADE,
        request json NOT NULL,
        created_at timestamptz(3) NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE responses');
  }
}
