import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Summaries that replace the oldest messages of a session in what the model is sent. The messages themselves stay
 * readable.
 */
export class CreateConversationSummaries1795370294000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE conversation_summaries (
        session_id text COLLATE "C" NOT NULL
          CONSTRAINT conversation_summaries_session_id_fkey REFERENCES sessions (id) ON DELETE CASCADE,
        first_seq  integer NOT NULL,
        last_seq   integer NOT NULL,
        content    text NOT NULL,
        model      text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT conversation_summaries_pkey PRIMARY KEY (session_id, last_seq)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE conversation_summaries`);
  }
}
