import type { MigrationInterface, QueryRunner } from 'typeorm';

const HOUR_OF = (row: string): string => `floor(extract(epoch FROM ${row}created_at) / 3600)::integer`;

/**
 * Sessions are also tallied by the hour of their creation, so that a page deep in a list is found without reading the
 * pages before. Appended rows name their hour, and a trigger adds them to the hours when a fold deletes them: the
 * previous version, whose fold knows no hours, then loses none.
 */
export class TallySessionsByHour1763700023000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`LOCK TABLE sessions IN SHARE MODE`);
    await runner.query(`
      CREATE TABLE session_hours (
        hour    integer NOT NULL,
        channel text NOT NULL,
        status  text NOT NULL,
        n       bigint NOT NULL,
        PRIMARY KEY (hour, channel, status)
      )`);
    await runner.query(`
      INSERT INTO session_hours
      SELECT ${HOUR_OF('')}, channel, status, count(*) FROM sessions GROUP BY 1, 2, 3`);
    await runner.query(`ALTER TABLE session_tally ADD COLUMN hour integer`);
    await this.createFold(runner);
    await this.createFunction(runner, {
      moved: `(OLD.channel, OLD.status, -1, ${HOUR_OF('OLD.')}), (NEW.channel, NEW.status, 1, ${HOUR_OF('NEW.')})`,
      columns: `, ${HOUR_OF('')}`,
      groups: ', 4',
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await this.createFunction(runner, {
      moved: `(OLD.channel, OLD.status, -1), (NEW.channel, NEW.status, 1)`,
      columns: '',
      groups: '',
    });
    await runner.query(`DROP TRIGGER session_tally_folded ON session_tally`);
    await runner.query(`DROP FUNCTION fold_session_hours()`);
    await runner.query(`ALTER TABLE session_tally DROP COLUMN hour`);
    await runner.query(`DROP TABLE session_hours`);
  }

  /** In a fixed order, so that two folds at once cannot deadlock. */
  private async createFold(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION fold_session_hours() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO session_hours AS kept (hour, channel, status, n)
        SELECT hour, channel, status, sum(n) FROM gone WHERE hour IS NOT NULL
        GROUP BY hour, channel, status ORDER BY hour, channel, status
        ON CONFLICT (hour, channel, status) DO UPDATE SET n = kept.n + excluded.n;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER session_tally_folded AFTER DELETE ON session_tally
      REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION fold_session_hours()`);
  }

  private async createFunction(
    runner: QueryRunner,
    { moved, columns, groups }: { moved: string; columns: string; groups: string },
  ): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE FUNCTION tally_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'UPDATE' THEN
          INSERT INTO session_tally VALUES ${moved};
        ELSE
          INSERT INTO session_tally
          SELECT channel, status, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END${columns}
          FROM changed GROUP BY channel, status${groups};
        END IF;
        RETURN NULL;
      END $$`);
  }
}
