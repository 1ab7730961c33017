import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which messages of channels were written in a group. Older messages keep their old labels. */
export class MarkGroupMessages1795340900000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE channel_messages ADD COLUMN is_group boolean NOT NULL DEFAULT false`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE channel_messages DROP COLUMN is_group`);
  }
}
