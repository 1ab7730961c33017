import { Module } from '@nestjs/common';
import { BudgetReports } from './budget-reports.js';
import { Prices } from './prices.js';
import { costMetric, SpendingMeter } from './spending-meter.js';
import { UsageAdmin } from './usage-admin.service.js';
import { UsageReports } from './usage-reports.js';
import { UsageSums } from './usage-sums.service.js';

/** What turns used and cost, by whom, and the budgets that bound it. */
@Module({
  providers: [Prices, costMetric, SpendingMeter, UsageSums, UsageReports, UsageAdmin, BudgetReports],
  exports: [SpendingMeter, UsageAdmin, BudgetReports],
})
export class UsageModule {}
