import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When someone last wrote in a conversation, so that an old one can be deleted. */
export class DateChannelConversations1763700016100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE channel_conversations ADD COLUMN written_at timestamptz(3) NOT NULL DEFAULT now()`,
    );
    await runner.query(`CREATE INDEX channel_conversations_quiet ON channel_conversations (written_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX channel_conversations_quiet`);
    await runner.query(`ALTER TABLE channel_conversations DROP COLUMN written_at`);
  }
}
