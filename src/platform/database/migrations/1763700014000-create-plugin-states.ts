import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which plugins are disabled, and the revision by which every replica notices a change. */
export class CreatePluginStates1763700014000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE plugin_states (
        name     text COLLATE "C" PRIMARY KEY,
        disabled boolean NOT NULL,
        revision bigint NOT NULL,
        loads    bigint NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE plugin_states`);
  }
}
