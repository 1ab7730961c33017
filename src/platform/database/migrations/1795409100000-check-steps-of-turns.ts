import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A migration of its own, so that turns can write while all steps are read. */
export class CheckStepsOfTurns1795409100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE turn_steps VALIDATE CONSTRAINT turn_steps_kind_check');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}
