import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Turns that are watched on a replica other than the one that runs them, and messages that any replica may answer. The
 * table of watchers is unlogged, because it is written again every few seconds. What a turn has sent is logged, so that
 * no viewer misses a part of it.
 */
export class ShowTurnsElsewhere1763700022000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE UNLOGGED TABLE session_audiences (
        session_id   text COLLATE "C" NOT NULL,
        replica      text COLLATE "C" NOT NULL,
        wanted_until timestamptz(3) NOT NULL,
        PRIMARY KEY (session_id, replica)
      )`);
    await runner.query(`
      CREATE TABLE turn_frames (
        turn_id text COLLATE "C" NOT NULL,
        n       integer NOT NULL,
        events  text NOT NULL,
        PRIMARY KEY (turn_id, n)
      )`);
    await runner.query(`ALTER TABLE turns ADD COLUMN caller json`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE turns DROP COLUMN caller`);
    await runner.query(`DROP TABLE turn_frames`);
    await runner.query(`DROP TABLE session_audiences`);
  }
}
