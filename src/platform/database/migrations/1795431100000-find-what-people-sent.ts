import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a person wrote in channels is looked up by the person when they are exported or erased. */
export class FindWhatPeopleSent1795431100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX channel_messages_by_user ON channel_messages (user_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX channel_messages_by_user');
  }
}
