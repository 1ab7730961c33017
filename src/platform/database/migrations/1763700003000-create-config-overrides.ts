import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Settings that were changed at run time, their history, and the revision by which every replica notices a change. */
export class CreateConfigOverrides1763700003000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`INSERT INTO change_counters (name) VALUES ('config')`);
    await runner.query(`
      CREATE TABLE config_overrides (
        key    text PRIMARY KEY,
        value  jsonb,
        sealed text,
        CONSTRAINT config_overrides_one_content CHECK ((value IS NULL) <> (sealed IS NULL))
      )`);
    await runner.query(`
      CREATE TABLE config_changes (
        revision       bigint PRIMARY KEY,
        action         text NOT NULL,
        actor_name     text NOT NULL,
        actor_token_id text,
        changed_at     timestamptz(3) NOT NULL DEFAULT now(),
        edits          jsonb NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE config_changes`);
    await runner.query(`DROP TABLE config_overrides`);
    await runner.query(`DELETE FROM change_counters WHERE name = 'config'`);
  }
}
