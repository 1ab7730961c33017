import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { RowOf } from '../../platform/database/sql-types.js';
import { type REPORT_ROW, type UsageDimension, usageStatement } from './usage-report.sql.js';

/** The query: days are `YYYY-MM-DD` in UTC, both included. */
export interface UsageQuery {
  readonly by: readonly UsageDimension[];
  readonly since: string;
  readonly until: string;
  /** Of this user alone; absent for all. */
  readonly userId?: string | undefined;
  /** Of these agents alone; absent for all. */
  readonly agents?: readonly string[] | undefined;
  /** Rows after the one with these values of the dimensions. */
  readonly after?: readonly string[] | undefined;
  readonly limit: number;
}

/** One row of usage, with the fields that callers see beside its dimensions. */
export type UsageCounts = RowOf<typeof REPORT_ROW>;

export interface UsageReportRow {
  readonly dimensions: Readonly<Partial<Record<UsageDimension, string>>>;
  readonly counts: UsageCounts;
}

/** Reads what turns used and cost. */
@Injectable()
export class UsageReports {
  constructor(private readonly database: Database) {}

  /** Sorted by the dimensions. Without any there is one row: the sum. */
  async rows({ by, since, until, userId, agents, after, limit }: UsageQuery): Promise<UsageReportRow[]> {
    const rows = await this.database.query(usageStatement(by), {
      ...{ since, until, user: userId ?? null, agents: agents ?? null },
      ...{ after: after === undefined ? null : JSON.stringify(after), most: limit },
    });
    return rows.map((row) => ({
      dimensions: Object.fromEntries(by.map((dimension) => [dimension, row[`by_${dimension}`]])),
      counts: countsOf(row),
    }));
  }
}

function countsOf(row: UsageCounts): UsageCounts {
  return {
    turns: row.turns,
    input_tokens: row.input_tokens,
    cached_input_tokens: row.cached_input_tokens,
    cache_write_tokens: row.cache_write_tokens,
    output_tokens: row.output_tokens,
    reasoning_tokens: row.reasoning_tokens,
    cost_usd: row.cost_usd,
    unpriced_tokens: row.unpriced_tokens,
  };
}
