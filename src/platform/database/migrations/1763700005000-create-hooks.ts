import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhooks, the lane of each (its running number and which replica sends now), and their deliveries. */
export class CreateHooks1763700005000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE hooks (
        id               text COLLATE "C" PRIMARY KEY,
        url              text NOT NULL,
        events           text[] NOT NULL,
        user_id          text,
        secret           text,
        old_secret       text,
        old_secret_until timestamptz(3),
        active           boolean NOT NULL DEFAULT true,
        inactive_reason  text,
        created_at       timestamptz(3) NOT NULL DEFAULT now()
      )`);
    // Kept apart from the hook, so that emitting an event reads a table that hardly ever changes.
    await runner.query(`
      CREATE TABLE hook_lanes (
        hook_id       text COLLATE "C" PRIMARY KEY,
        sequence      bigint NOT NULL DEFAULT 0,
        owner         text,
        lease_until   timestamptz(3),
        failing_since timestamptz(3)
      ) WITH (fillfactor = 50)`);
    // No foreign key to hooks: every writer would lock the same few rows. The retention job removes what is left
    // behind.
    await runner.query(`
      CREATE TABLE hook_deliveries (
        id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        hook_id         text COLLATE "C" NOT NULL,
        event_id        text COLLATE "C" NOT NULL,
        event           text NOT NULL,
        sequence        bigint,
        status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
        attempts        integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz(3),
        last_attempt_at timestamptz(3),
        last_status     integer,
        last_error      text,
        created_at      timestamptz(3) NOT NULL DEFAULT now(),
        done_at         timestamptz(3)
      ) WITH (fillfactor = 70)`);
    await runner.query(`
      CREATE INDEX hook_deliveries_unsent ON hook_deliveries (hook_id, sequence, id)
      WHERE status = 'pending' AND attempts = 0`);
    await runner.query(`
      CREATE INDEX hook_deliveries_due ON hook_deliveries (hook_id, next_attempt_at)
      WHERE status = 'pending' AND attempts > 0`);
    await runner.query(
      `CREATE INDEX hook_deliveries_done ON hook_deliveries (done_at) WHERE status <> 'pending'`,
    );
    await runner.query(`CREATE INDEX hook_deliveries_by_event ON hook_deliveries (event_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE hook_deliveries`);
    await runner.query(`DROP TABLE hook_lanes`);
    await runner.query(`DROP TABLE hooks`);
  }
}
