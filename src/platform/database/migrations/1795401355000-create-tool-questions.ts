import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What tools ask people while they run. A question is a row, so that it can be answered on any replica, once. */
export class CreateToolQuestions1795401355000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE tool_questions (
        id text COLLATE "C" PRIMARY KEY,
        call_id text NOT NULL,
        tool text NOT NULL,
        session_id text COLLATE "C" NOT NULL,
        agent text NOT NULL,
        channel text NOT NULL,
        user_id text NOT NULL,
        acts_for text,
        message text NOT NULL,
        schema jsonb NOT NULL,
        url text,
        action text,
        content jsonb,
        answered_by text,
        answered_at timestamptz(3),
        asked_at timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL,
        awaited_until timestamptz(3) NOT NULL
      )`);
    await runner.query('CREATE INDEX tool_questions_asked ON tool_questions (asked_at DESC, id DESC)');
    await runner.query('CREATE INDEX tool_questions_of_session ON tool_questions (session_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE tool_questions');
  }
}
