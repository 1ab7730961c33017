import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { dayOf, usualSince } from './usage-period.js';
import type { UsageDimension } from './usage-report.sql.js';
import { type UsageReportRow, UsageReports } from './usage-reports.js';

/** A caller's query: days in UTC, both included. */
export interface UsageFilter {
  readonly by: readonly UsageDimension[];
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Usage in pages, sorted by its dimensions. */
@Injectable()
export class UsageAdmin {
  constructor(private readonly reports: UsageReports) {}

  /** Only of the caller's user and agents, if the caller is limited to those. */
  async page(
    { by, since = usualSince(), until = dayOf(new Date()) }: UsageFilter,
    { boundUserId: userId, agents }: Pick<Caller, 'boundUserId' | 'agents'>,
    query: PageQuery,
  ): Promise<Page<UsageReportRow>> {
    const list = new KeysetList<UsageReportRow>(
      'usage',
      by.map(() => 'text'),
      ({ dimensions }) => by.map((dimension) => dimensions[dimension] ?? ''),
    );
    const filters = [by.join(','), since, until, userId];
    const after = query.cursor === undefined ? undefined : list.after(query, filters);
    const wanted = { by, since, until, userId: userId ?? undefined, agents, after, limit: query.limit + 1 };
    return list.page(await this.reports.rows(wanted), query, filters);
  }
}
