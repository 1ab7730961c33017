import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A turn that waits for a person holds no replica: its row says so and until when, its steps say which calls were sent,
 * and waiting calls are found by turn and call. `ValidateChecks1795408000000` checks older rows.
 */
export class ParkTurnsThatAwaitApproval1795401514000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE turns DROP CONSTRAINT turns_status_check, ADD CONSTRAINT turns_status_check
        CHECK (status IN ('waiting', 'running', 'awaiting_approval', 'completed', 'failed', 'interrupted', 'cancelled')) NOT VALID,
        ADD COLUMN wake_at timestamptz(3), ADD COLUMN ran_ms integer NOT NULL DEFAULT 0`);
    await runner.query(
      `CREATE INDEX turns_awaiting_approval ON turns (wake_at) WHERE status = 'awaiting_approval'`,
    );
    await runner.query(`
      ALTER TABLE turn_steps DROP CONSTRAINT turn_steps_kind_check, ADD CONSTRAINT turn_steps_kind_check
        CHECK (kind IN ('asked', 'sent', 'answered')) NOT VALID`);
    await runner.query(`ALTER TABLE tool_approvals ADD COLUMN turn_id text COLLATE "C"`);
    await runner.query(`CREATE UNIQUE INDEX tool_approvals_call ON tool_approvals (turn_id, call_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX tool_approvals_call`);
    await runner.query(`ALTER TABLE tool_approvals DROP COLUMN turn_id`);
    await runner.query(`DELETE FROM turn_steps WHERE kind = 'sent'`);
    await runner.query(`
      ALTER TABLE turn_steps DROP CONSTRAINT turn_steps_kind_check, ADD CONSTRAINT turn_steps_kind_check
        CHECK (kind IN ('asked', 'answered'))`);
    await runner.query(`DROP INDEX turns_awaiting_approval`);
    await runner.query(`UPDATE turns SET status = 'running' WHERE status = 'awaiting_approval'`);
    await runner.query(`
      ALTER TABLE turns DROP CONSTRAINT turns_status_check, ADD CONSTRAINT turns_status_check
        CHECK (status IN ('waiting', 'running', 'completed', 'failed', 'interrupted', 'cancelled')),
        DROP COLUMN wake_at, DROP COLUMN ran_ms`);
  }
}
