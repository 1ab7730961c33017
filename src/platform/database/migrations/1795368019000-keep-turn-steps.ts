import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a turn asked of tools and what they answered, step by step as it happened, so that later turns of the session
 * see it; and how much of the oldest part of a session's history is no longer sent to the model. Both are deleted with
 * their session.
 */
export class KeepTurnSteps1795368019000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE turn_steps (
        turn_id    text COLLATE "C" NOT NULL CONSTRAINT turn_steps_turn_id_fkey REFERENCES turns (id) ON DELETE CASCADE,
        number     integer NOT NULL,
        kind       text NOT NULL CONSTRAINT turn_steps_kind_check CHECK (kind IN ('asked', 'answered')),
        content    json NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT turn_steps_pkey PRIMARY KEY (turn_id, number)
      )`);
    await runner.query(`
      ALTER TABLE sessions
        ADD COLUMN messages_cut integer NOT NULL DEFAULT 0,
        ADD COLUMN results_cut integer NOT NULL DEFAULT 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE sessions DROP COLUMN results_cut, DROP COLUMN messages_cut`);
    await runner.query(`DROP TABLE turn_steps`);
  }
}
