import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tokens that replaced one another are a family, named by the first of them (null: the token itself is the first).
 * Hooks store the family that made them; older hooks belong to none. Tokens from GATEWAY_BOOTSTRAP_TOKEN get the time
 * when they were set, so that the newest of them replaces the others.
 */
export class EndWhatTokensMade1795341000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE api_tokens ADD COLUMN family_id text COLLATE "C"`);
    await runner.query(`ALTER TABLE api_tokens ADD COLUMN bootstrap_at timestamptz(3)`);
    await runner.query(`
      UPDATE api_tokens SET bootstrap_at = created_at
      WHERE name = 'bootstrap' AND scopes = '{*}' AND expires_at IS NULL AND user_id IS NULL`);
    await runner.query(`CREATE INDEX api_tokens_family ON api_tokens ((coalesce(family_id, id)))`);
    await runner.query(`ALTER TABLE hooks ADD COLUMN token_family text COLLATE "C"`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE hooks DROP COLUMN token_family`);
    await runner.query(`DROP INDEX api_tokens_family`);
    await runner.query(`ALTER TABLE api_tokens DROP COLUMN bootstrap_at`);
    await runner.query(`ALTER TABLE api_tokens DROP COLUMN family_id`);
  }
}
