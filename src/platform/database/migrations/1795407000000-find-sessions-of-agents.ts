import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * For lists of the sessions, and of the turns, of an agent: those of a rarely used agent are found without reading the
 * others. Building the index stops writes to the table: seconds for a million sessions.
 */
export class FindSessionsOfAgents1795407000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX sessions_newest_by_agent ON sessions (agent, created_at DESC, id DESC)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX sessions_newest_by_agent`);
  }
}
