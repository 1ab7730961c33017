import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Models that failed lately, which all replicas pass over. */
export class CoolModelsDown1795380865000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE model_cooldowns (
        provider text COLLATE "C" NOT NULL,
        model text COLLATE "C" NOT NULL,
        reason text NOT NULL,
        failed_at timestamptz(3) NOT NULL,
        until timestamptz(3) NOT NULL,
        PRIMARY KEY (provider, model)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE model_cooldowns');
  }
}
