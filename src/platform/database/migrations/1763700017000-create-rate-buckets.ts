import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The token buckets that all replicas share. The table is unlogged: a crash of the server empties it, and then every
 * bucket is full, as after a second without requests. Half of each page stays free, so that updates stay within their
 * page.
 */
export class CreateRateBuckets1763700017000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE UNLOGGED TABLE rate_buckets (
        key        text COLLATE "C" PRIMARY KEY,
        full_at_ms double precision NOT NULL,
        token_ms   double precision NOT NULL,
        granted    integer NOT NULL
      ) WITH (fillfactor = 50)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE rate_buckets');
  }
}
