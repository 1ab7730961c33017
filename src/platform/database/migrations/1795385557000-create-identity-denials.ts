import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Identities and single tokens of the company's identity provider that are refused, and the counter by which every
 * replica notices a change. Webhooks store the very token that made them, so that they end with it.
 */
export class CreateIdentityDenials1795385557000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE identity_denials (
        owner     text COLLATE "C" PRIMARY KEY,
        issuer    text NOT NULL,
        subject   text,
        jti       text,
        denied_at timestamptz(3) NOT NULL DEFAULT now(),
        denied_by text NOT NULL
      )`);
    await runner.query(`INSERT INTO change_counters (name) VALUES ('identity_denials')`);
    await runner.query(`
      CREATE FUNCTION count_identity_denial_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE change_counters SET value = value + 1 WHERE name = 'identity_denials';
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER identity_denials_changed
      AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE
      ON identity_denials FOR EACH STATEMENT EXECUTE FUNCTION count_identity_denial_change()`);
    await runner.query(`ALTER TABLE hooks ADD COLUMN made_with text COLLATE "C"`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE hooks DROP COLUMN made_with`);
    await runner.query(`DROP TABLE identity_denials`);
    await runner.query(`DROP FUNCTION count_identity_denial_change()`);
    await runner.query(`DELETE FROM change_counters WHERE name = 'identity_denials'`);
  }
}
