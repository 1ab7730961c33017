import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For listing tokens in pages: each page starts after the last token of the previous one. */
export class FindTokensInOrder1795380293000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX api_tokens_created ON api_tokens (created_at DESC, id DESC)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX api_tokens_created`);
  }
}
