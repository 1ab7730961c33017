import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Log lines of all replicas, numbered in the order in which they become visible. */
export class CreateLogs1763700004000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE log_entries (
        id         bigint PRIMARY KEY,
        at         timestamptz(3) NOT NULL,
        level      smallint NOT NULL,
        module     text NOT NULL,
        message    text NOT NULL,
        session_id text
      ) WITH (autovacuum_vacuum_insert_scale_factor = 0.02)`);
    await runner.query(`
      CREATE INDEX log_entries_by_time ON log_entries (at, id) INCLUDE (level, module)`);
    await runner.query(`
      CREATE TABLE log_head (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
        last_id  bigint NOT NULL
      ) WITH (fillfactor = 10)`);
    await runner.query(`INSERT INTO log_head (last_id) VALUES (0)`);
    await runner.query(`
      CREATE TABLE log_writers (
        writer   text PRIMARY KEY,
        batch    bigint NOT NULL,
        wrote_at timestamptz(3) NOT NULL
      ) WITH (fillfactor = 50)`);
    await this.createAppend(runner);
  }

  /**
   * The row lock on the head is held from numbering to commit, so that numbers become visible in their order. One call
   * is one statement, so that a client that hangs cannot hold the lock. A batch that is already stored is not stored
   * again.
   */
  private async createAppend(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION append_log_lines(
        which text, batch_number bigint,
        ats timestamptz[], levels smallint[], modules text[], messages text[], session_ids text[]
      ) RETURNS void LANGUAGE plpgsql AS $$
      DECLARE
        before bigint;
      BEGIN
        INSERT INTO log_writers AS known (writer, batch, wrote_at) VALUES (which, batch_number, now())
        ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, wrote_at = excluded.wrote_at
        WHERE known.batch < excluded.batch;
        IF NOT FOUND THEN
          RETURN;
        END IF;
        UPDATE log_head SET last_id = last_id + cardinality(ats)
        RETURNING last_id - cardinality(ats) INTO before;
        INSERT INTO log_entries (id, at, level, module, message, session_id)
        SELECT before + n, line.at, line.level, line.module, line.message, line.session_id
        FROM unnest(ats, levels, modules, messages, session_ids)
          WITH ORDINALITY AS line (at, level, module, message, session_id, n);
      END $$`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DROP FUNCTION append_log_lines(text, bigint, timestamptz[], smallint[], text[], text[], text[])`,
    );
    await runner.query(`DROP TABLE log_writers`);
    await runner.query(`DROP TABLE log_head`);
    await runner.query(`DROP TABLE log_entries`);
  }
}
