import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For deleting sessions that ended long ago. */
export class FindEndedSessions1763700019000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX sessions_ended ON sessions (ended_at) WHERE status = 'terminated'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX sessions_ended`);
  }
}
