import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A turn that is handed over in the middle of a model's answer records what that cost as a step.
 * `CheckStepsOfTurns1795409100000` checks older rows.
 */
export class KeepSpendingOfHandOvers1795402000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE turn_steps DROP CONSTRAINT turn_steps_kind_check, ADD CONSTRAINT turn_steps_kind_check
        CHECK (kind IN ('asked', 'sent', 'answered', 'spent')) NOT VALID`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM turn_steps WHERE kind = 'spent'`);
    await runner.query(`
      ALTER TABLE turn_steps DROP CONSTRAINT turn_steps_kind_check, ADD CONSTRAINT turn_steps_kind_check
        CHECK (kind IN ('asked', 'sent', 'answered'))`);
  }
}
