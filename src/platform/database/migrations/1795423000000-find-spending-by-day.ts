import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What tokens used today is looked up by the day, for operators and for forgetting old days; the key begins with the token. */
export class FindSpendingByDay1795423000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX token_spending_by_day ON token_spending (day)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX token_spending_by_day');
  }
}
