import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For deleting sessions: their turns are deleted with them, and are looked up session by session. */
export class FindTurnsOfSession1763700024000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX turns_by_session ON turns (session_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX turns_by_session`);
  }
}
