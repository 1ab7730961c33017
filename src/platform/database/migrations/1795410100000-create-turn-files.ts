import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Files that tools made for the people of a conversation, until they have been sent; and which part of an answer is a
 * file. Adding the column takes no longer than getting its lock.
 */
export class CreateTurnFiles1795410100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE turn_files (
        turn_id text COLLATE "C" NOT NULL CONSTRAINT turn_files_turn_id_fkey REFERENCES turns (id) ON DELETE CASCADE,
        step integer NOT NULL,
        place integer NOT NULL,
        name text NOT NULL,
        mime_type text NOT NULL,
        data bytea,
        PRIMARY KEY (turn_id, step, place)
      )`);
    await runner.query('ALTER TABLE channel_replies ADD COLUMN file json');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE channel_replies DROP COLUMN file');
    await runner.query('DROP TABLE turn_files');
  }
}
