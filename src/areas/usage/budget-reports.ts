import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { Settings } from '../../platform/settings/settings.js';
import { type BudgetPeriod, type BudgetScope, budgetsFor } from './budgets.js';

/** A budget that refuses turns at the moment. */
export interface ReachedBudget {
  readonly scope: BudgetScope;
  /** Empty for all together. */
  readonly name: string;
  readonly period: BudgetPeriod;
  readonly limit_usd: number;
}

/** The most notices that are looked at. */
const MOST_READ = 1000;

const REACHED: Statement = {
  name: 'budgets.reached_now',
  text: `
    SELECT scope, name, period, limit_usd::float8 FROM budget_notices
    WHERE notice = 'reached' AND starts_on = CASE period
      WHEN 'day' THEN (now() AT TIME ZONE 'UTC')::date ELSE date_trunc('month', now() AT TIME ZONE 'UTC')::date END
    ORDER BY scope, name LIMIT $1`,
};

/** Which budgets are used up, for operators. */
@Injectable()
export class BudgetReports {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Those that the settings still have: one that was raised has been told of as it was. */
  async reached(most: number): Promise<ReachedBudget[]> {
    const rows = await this.database.query<ReachedBudget>(REACHED, [MOST_READ]);
    return rows.filter((row) => this.isInForce(row)).slice(0, most);
  }

  private isInForce({ scope, name, period, limit_usd: limit }: ReachedBudget): boolean {
    const budgets = budgetsFor(this.settings.current.limits, scope, name);
    return budgets.some((budget) => budget.period === period && budget.limitUsd === limit);
  }
}
