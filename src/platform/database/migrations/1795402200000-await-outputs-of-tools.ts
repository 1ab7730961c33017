import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sessions whose model called a tool that its caller runs, and the id of the message that is to bring the output. */
export class AwaitOutputsOfTools1795402200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sessions ADD COLUMN awaits_message_id text COLLATE "C"');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sessions DROP COLUMN awaits_message_id');
  }
}
