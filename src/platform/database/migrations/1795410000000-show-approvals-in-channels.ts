import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Messages with buttons, so that people can decide about tool calls in the channel where they read. */
export class ShowApprovalsInChannels1795410000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE channel_approvals (
        approval_id text COLLATE "C" PRIMARY KEY,
        channel text COLLATE "C" NOT NULL,
        code text COLLATE "C" NOT NULL,
        target json NOT NULL,
        session_id text COLLATE "C" NOT NULL,
        asker text NOT NULL,
        title text NOT NULL,
        details text NOT NULL,
        status text NOT NULL DEFAULT 'new'
          CONSTRAINT channel_approvals_status_check CHECK (status IN ('new', 'shown', 'closed')),
        external_id text,
        decider text,
        due_at timestamptz(3) NOT NULL DEFAULT now(),
        attempts integer NOT NULL DEFAULT 0,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      )`);
    await runner.query(`CREATE UNIQUE INDEX channel_approvals_code ON channel_approvals (code)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE channel_approvals`);
  }
}
