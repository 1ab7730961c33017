import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A token that was made over HTTP ends with its maker. Older tokens, and those that operators make, have no known
 * maker.
 */
export class EndTokensWithTheirMakers1795390000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_tokens ADD COLUMN maker_family text COLLATE "C"');
    await runner.query('ALTER TABLE api_tokens ADD COLUMN maker_credential text COLLATE "C"');
    await runner.query('CREATE INDEX api_tokens_maker ON api_tokens (maker_family)');
    await runner.query('CREATE INDEX api_tokens_maker_credential ON api_tokens (maker_credential)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_tokens DROP COLUMN maker_credential');
    await runner.query('ALTER TABLE api_tokens DROP COLUMN maker_family');
  }
}
