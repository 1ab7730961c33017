import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Operators look up what tokens used today, and old days are deleted, both by the day; the primary key begins with the
 * token.
 */
export class FindSpendingByDay1795423000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX token_spending_by_day ON token_spending (day)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX token_spending_by_day');
  }
}
