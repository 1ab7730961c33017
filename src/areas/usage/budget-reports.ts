import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { bigint, double, oneOf, text } from '../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../platform/database/statement.js';
import { Settings } from '../../platform/settings/settings.js';
import { type BudgetPeriod, type BudgetScope, budgetsFor } from './budgets.js';

/** The most notices that are looked at. */
const MOST_READ = 1000;

const REACHED = statement({
  name: 'budgets.reached_now',
  params: { most: bigint },
  row: {
    scope: oneOf<BudgetScope>(),
    /** Empty for all together. */
    name: text,
    ...{ period: oneOf<BudgetPeriod>(), limit_usd: double },
  },
  sql: `
    SELECT scope, name, period, limit_usd::float8 FROM budget_notices
    WHERE notice = 'reached' AND starts_on = CASE period
      WHEN 'day' THEN (now() AT TIME ZONE 'UTC')::date ELSE date_trunc('month', now() AT TIME ZONE 'UTC')::date END
    ORDER BY scope, name LIMIT :most`,
});

/** A budget that refuses turns at the moment. */
export type ReachedBudget = RowOfStatement<typeof REACHED>;

/** Which budgets are used up, for operators. */
@Injectable()
export class BudgetReports {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Those that the settings still have: one that was raised has been told of as it was. */
  async reached(most: number): Promise<ReachedBudget[]> {
    const rows = await this.database.query(REACHED, { most: MOST_READ });
    return rows.filter((row) => this.isInForce(row)).slice(0, most);
  }

  private isInForce({ scope, name, period, limit_usd: limit }: ReachedBudget): boolean {
    const budgets = budgetsFor(this.settings.current.limits, scope, name);
    return budgets.some((budget) => budget.period === period && budget.limitUsd === limit);
  }
}
