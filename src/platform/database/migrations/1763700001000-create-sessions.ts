import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sessions, and a tally of them by channel and status, so that no list has to count the table. */
export class CreateSessions1763700001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE sessions (
        id               text COLLATE "C" PRIMARY KEY,
        channel          text NOT NULL,
        user_id          text NOT NULL,
        status           text NOT NULL CHECK (status IN ('active', 'idle', 'terminated')),
        system_prompt    text,
        model            text,
        metadata         json NOT NULL,
        created_at       timestamptz(3) NOT NULL DEFAULT now(),
        last_activity    timestamptz(3) NOT NULL DEFAULT now(),
        quiet_since      timestamptz(3) NOT NULL DEFAULT now(),
        ended_at         timestamptz(3),
        message_count    integer NOT NULL DEFAULT 0,
        turn_count       integer NOT NULL DEFAULT 0,
        input_tokens     bigint NOT NULL DEFAULT 0,
        output_tokens    bigint NOT NULL DEFAULT 0,
        turn_fence       bigint NOT NULL DEFAULT 0,
        turn_owner       text,
        turn_lease_until timestamptz(3)
      ) WITH (fillfactor = 85)`);
    await runner.query(`CREATE INDEX sessions_newest ON sessions (created_at DESC, id DESC)`);
    await runner.query(
      `CREATE INDEX sessions_newest_by_status ON sessions (status, created_at DESC, id DESC)`,
    );
    await runner.query(
      `CREATE INDEX sessions_newest_by_channel ON sessions (channel, status, created_at DESC, id DESC)`,
    );
    await runner.query(
      `CREATE INDEX sessions_newest_by_user ON sessions (user_id, created_at DESC, id DESC)`,
    );
    await runner.query(
      `CREATE INDEX sessions_quiet ON sessions (status, quiet_since) WHERE status <> 'terminated'`,
    );
    await this.createTally(runner);
  }

  /**
   * Append-only: writers never wait for each other, a reader sums the rows, and a fold now and then replaces many rows
   * by few (`SessionStore.foldTally`).
   */
  private async createTally(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE session_tally (
        channel text NOT NULL,
        status  text NOT NULL,
        n       bigint NOT NULL
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`);
    await runner.query(`
      CREATE FUNCTION tally_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'UPDATE' THEN
          INSERT INTO session_tally VALUES (OLD.channel, OLD.status, -1), (NEW.channel, NEW.status, 1);
        ELSE
          INSERT INTO session_tally
          SELECT channel, status, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
          FROM changed GROUP BY channel, status;
        END IF;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER sessions_inserted AFTER INSERT ON sessions
      REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_sessions()`);
    await runner.query(`
      CREATE TRIGGER sessions_deleted AFTER DELETE ON sessions
      REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_sessions()`);
    await runner.query(`
      CREATE TRIGGER sessions_moved AFTER UPDATE OF status, channel ON sessions FOR EACH ROW
      WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.channel IS DISTINCT FROM NEW.channel)
      EXECUTE FUNCTION tally_sessions()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE sessions`);
    await runner.query(`DROP FUNCTION tally_sessions()`);
    await runner.query(`DROP TABLE session_tally`);
  }
}
