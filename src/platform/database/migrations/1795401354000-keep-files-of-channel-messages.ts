import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Files that people send over channels, until the message is answered. */
export class KeepFilesOfChannelMessages1795401354000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE channel_messages ADD COLUMN files json NOT NULL DEFAULT '[]'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE channel_messages DROP COLUMN files`);
  }
}
