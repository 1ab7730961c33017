import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { bigint, optional, text, timestamp } from '../database/sql-types.js';
import { filtersGiven, statementsBy } from '../database/statement.js';
import { ENTRY, ENTRY_COLUMNS, toRow } from './audit.sql.js';
import type { AuditRow } from './audit-chain.js';

/** Exact values; all that are given must match. */
export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly since?: Date | undefined;
}

/** The time and the id of a row. */
type AuditPosition = readonly [at: string, id: string];

/** Before the first row: later than any time. */
export const NEWEST: AuditPosition = ['infinity', '9223372036854775807'];

const CONDITIONS = {
  actor: 'e.actor = :actor',
  action: 'e.action = :action',
  subject: 'e.target = :subject',
  since: 'e.happened_at >= :since',
} as const satisfies Record<keyof AuditFilter, string>;
const FILTERS = Object.keys(CONDITIONS) as readonly (keyof AuditFilter)[];

/** Reads the audit. */
@Injectable()
export class AuditStore {
  constructor(private readonly database: Database) {}

  /** Newest first, after the row with this time and id. The time it takes does not depend on the number of rows. */
  async list(filter: AuditFilter, limit: number, [at, id]: AuditPosition): Promise<readonly AuditRow[]> {
    const { actor, action, subject, since } = filter;
    const filters = { actor, action, subject, since };
    const list = LIST(filtersGiven(filters));
    return (await this.database.query(list, { at, id, limit, ...filters })).map(toRow);
  }
}

/**
 * Without filters all values stand in sub-selects, which hide them from the planner. It then finds no plan that is
 * cheaper than the general one, and keeps that. Otherwise each page of a large table would be planned again, which
 * takes longer than the page.
 */
const UNFILTERED = `
  SELECT ${ENTRY_COLUMNS} FROM audit_entries AS e
  WHERE (e.happened_at, e.id) < ((SELECT :at::timestamptz), (SELECT :id::int8))
  ORDER BY e.happened_at DESC, e.id DESC LIMIT (SELECT :limit::int8)`;

/** Filters need a plan for their values: a rare value is found through another index than the value of most rows. */
const LIST = statementsBy(FILTERS, (given) => ({
  name: ['audit.list', ...given].join('_'),
  replanned: given.size > 0,
  params: {
    ...{ at: timestamp, id: bigint, limit: bigint },
    ...{ actor: optional(text), action: optional(text), subject: optional(text), since: optional(timestamp) },
  },
  row: ENTRY,
  sql:
    given.size === 0
      ? UNFILTERED
      : `
        SELECT ${ENTRY_COLUMNS} FROM audit_entries AS e
        WHERE (e.happened_at, e.id) < (:at::timestamptz, :id::int8)${[...given]
          .map((name) => ` AND ${CONDITIONS[name]}`)
          .join('')}
        ORDER BY e.happened_at DESC, e.id DESC LIMIT :limit`,
}));
