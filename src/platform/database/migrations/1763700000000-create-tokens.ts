import type { MigrationInterface, QueryRunner } from 'typeorm';

/** API tokens, and the counter by which every replica notices that they changed. */
export class CreateTokens1763700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE change_counters (
        name  text PRIMARY KEY,
        value bigint NOT NULL DEFAULT 0
      )`);
    await runner.query(`INSERT INTO change_counters (name) VALUES ('api_tokens')`);
    await runner.query(`
      CREATE TABLE api_tokens (
        id           text COLLATE "C" PRIMARY KEY,
        name         text NOT NULL,
        sha256       bytea NOT NULL,
        scopes       text[] NOT NULL,
        user_id      text,
        created_at   timestamptz(3) NOT NULL DEFAULT now(),
        expires_at   timestamptz(3),
        last_used_at timestamptz(3),
        revoked_at   timestamptz(3)
      )`);
    await runner.query(`CREATE UNIQUE INDEX api_tokens_sha256 ON api_tokens (sha256)`);
    await runner.query(`
      CREATE FUNCTION count_api_token_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE change_counters SET value = value + 1 WHERE name = 'api_tokens';
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER api_tokens_changed
      AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF id, name, sha256, scopes, user_id, expires_at, revoked_at
      ON api_tokens FOR EACH STATEMENT EXECUTE FUNCTION count_api_token_change()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE api_tokens`);
    await runner.query(`DROP FUNCTION count_api_token_change()`);
    await runner.query(`DROP TABLE change_counters`);
  }
}
