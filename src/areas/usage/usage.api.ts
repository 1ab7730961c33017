/** What other areas may use: what calls cost, how that is stored, and the budgets that bound it. */
export { BudgetReports } from './budget-reports.js';
export {
  apiTokenOf,
  type Budget,
  budgetsOf,
  needSession,
  settingOf,
} from './budgets.js';
export { type ModelSpending, TurnSpending } from './cost.js';
export { SpendingMeter } from './spending-meter.js';
export {
  budgetsJson,
  budgetsSpent,
  budgetsStanding,
  costTodayByAgent,
  RECORD_USAGE_OF_LOST,
  recordUsage,
  STANDING,
  TURN_COST,
} from './usage.sql.js';
