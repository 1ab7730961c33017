import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A turn whose own results are too long for the model stores a step that says how much of them is shown. */
export class KeepCutsWithinTurns1795409000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE turn_steps DROP CONSTRAINT turn_steps_kind_check, ADD CONSTRAINT turn_steps_kind_check
        CHECK (kind IN ('asked', 'sent', 'answered', 'spent', 'cut')) NOT VALID`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM turn_steps WHERE kind = 'cut'`);
    await runner.query(`
      ALTER TABLE turn_steps DROP CONSTRAINT turn_steps_kind_check, ADD CONSTRAINT turn_steps_kind_check
        CHECK (kind IN ('asked', 'sent', 'answered', 'spent')) NOT VALID`);
    await runner.query('ALTER TABLE turn_steps VALIDATE CONSTRAINT turn_steps_kind_check');
  }
}
