import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replicas store that they run, with their version and clock, so that each of them can say how the others are. */
export class CountReplicas1795421000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE replicas (
        id text COLLATE "C" PRIMARY KEY,
        version text NOT NULL,
        started_at timestamptz(3) NOT NULL DEFAULT now(),
        seen_at timestamptz(3) NOT NULL DEFAULT now(),
        clock_skew_ms integer NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE replicas');
  }
}
