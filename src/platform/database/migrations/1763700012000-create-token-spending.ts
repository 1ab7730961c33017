import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the turns of each API token and of each session have used today. A token has 16 rows a day, and each database
 * connection uses one of them by its number, so that turns that end at the same moment do not wait for each other.
 */
export class CreateTokenSpending1763700012000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE token_spending (
        token_id      text COLLATE "C" NOT NULL,
        day           date NOT NULL,
        slot          smallint NOT NULL,
        input_tokens  bigint NOT NULL,
        output_tokens bigint NOT NULL,
        PRIMARY KEY (token_id, day, slot)
      ) WITH (fillfactor = 50)`);
    await runner.query(`ALTER TABLE turns ADD COLUMN token_id text`);
    await runner.query(`
      ALTER TABLE sessions ADD COLUMN spent_on date, ADD COLUMN spent_tokens bigint NOT NULL DEFAULT 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE sessions DROP COLUMN spent_on, DROP COLUMN spent_tokens`);
    await runner.query(`ALTER TABLE turns DROP COLUMN token_id`);
    await runner.query(`DROP TABLE token_spending`);
  }
}
