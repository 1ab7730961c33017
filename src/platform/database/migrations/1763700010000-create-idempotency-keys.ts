import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Requests with an Idempotency-Key and their responses; and how turns failed, so that a failure can be replayed. */
export class CreateIdempotencyKeys1763700010000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE idempotency_keys (
        scope       text COLLATE "C" PRIMARY KEY,
        token_id    text COLLATE "C" NOT NULL,
        operation   text NOT NULL,
        request     text COLLATE "C" NOT NULL,
        turn_id     text COLLATE "C" REFERENCES turns (id) ON DELETE CASCADE,
        owner       text,
        lease_until timestamptz(3),
        status      smallint,
        headers     json,
        body        text,
        created_at  timestamptz(3) NOT NULL DEFAULT now()
      )`);
    await runner.query(`CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at)`);
    await runner.query(
      `CREATE INDEX idempotency_keys_turn ON idempotency_keys (turn_id) WHERE turn_id IS NOT NULL`,
    );
    await runner.query(`ALTER TABLE turns ADD COLUMN failure json`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE turns DROP COLUMN failure`);
    await runner.query(`DROP TABLE idempotency_keys`);
  }
}
