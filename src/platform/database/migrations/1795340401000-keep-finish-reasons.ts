import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why the model stopped, and whether its tokens were counted or estimated. Older rows have neither.
 * `ValidateChecks1795408000000` checks them.
 */
export class KeepFinishReasons1795340401000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE messages
        ADD COLUMN finish_reason text,
        ADD CONSTRAINT messages_finish_reason_check
          CHECK (finish_reason IN ('stop', 'tool_calls', 'length', 'content_filter', 'refusal')) NOT VALID,
        ADD COLUMN usage_estimated boolean NOT NULL DEFAULT false`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE messages DROP COLUMN usage_estimated, DROP COLUMN finish_reason`);
  }
}
