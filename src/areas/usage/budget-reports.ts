import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import { bigint, double } from '../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../platform/database/statement.js';
import { Settings } from '../../platform/settings/settings.js';
import { budgetsFor } from './budgets.js';
import { BudgetNoticeEntity } from './usage.entities.js';

/** How many notices are read at most. */
const MOST_READ = 1000;

const NOTICES = statement({
  name: 'budgets.notices_now',
  params: { most: bigint },
  row: {
    /** `warned` at four fifths; a budget that is used up has both. The name is empty for all together. */
    ...columnsOf(BudgetNoticeEntity, 'notice', 'scope', 'name', 'period'),
    limit_usd: double,
  },
  sql: `
    SELECT notice, scope, name, period, limit_usd::float8 FROM budget_notices
    WHERE starts_on = CASE period
      WHEN 'day' THEN (now() AT TIME ZONE 'UTC')::date ELSE date_trunc('month', now() AT TIME ZONE 'UTC')::date END
    ORDER BY notice, scope, name LIMIT :most`,
});

/** A budget that refuses turns now, or soon will. */
export type NoticedBudget = RowOfStatement<typeof NOTICES>;

/** Which budgets are used up or nearly so, for operators. */
@Injectable()
export class BudgetReports {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Budgets that refuse turns. */
  async reached(most: number): Promise<NoticedBudget[]> {
    return (await this.noticed()).filter(({ notice }) => notice === 'reached').slice(0, most);
  }

  /**
   * Each budget once, and only as the settings still have it: notices about an amount that was raised since do not
   * count. Those that are used up come first.
   */
  async noticed(): Promise<NoticedBudget[]> {
    const rows = await this.database.query(NOTICES, { most: MOST_READ });
    const inForce = rows.filter((row) => this.isInForce(row));
    const used = new Set(inForce.filter(({ notice }) => notice === 'reached').map(keyOf));
    return inForce.filter((row) => row.notice === 'reached' || !used.has(keyOf(row)));
  }

  private isInForce({ scope, name, period, limit_usd: limit }: NoticedBudget): boolean {
    const budgets = budgetsFor(this.settings.current.limits, scope, name);
    return budgets.some((budget) => budget.period === period && budget.limitUsd === limit);
  }
}

function keyOf({ scope, name, period }: NoticedBudget): string {
  return JSON.stringify([scope, name, period]);
}
