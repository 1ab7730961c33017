import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { SqlValue, Statement } from '../database/sql.js';
import { ENTRY_COLUMNS, type EntryRow, toRow } from './audit.sql.js';
import type { AuditRow } from './audit-chain.js';

/** Exact values; all that are given must fit. */
export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly since?: Date | undefined;
}

/** The last row of the page before. */
export type AuditPosition = Pick<AuditRow, 'at' | 'id'>;

const CONDITIONS = {
  actor: (at: string) => `e.actor = ${at}`,
  action: (at: string) => `e.action = ${at}`,
  subject: (at: string) => `e.target = ${at}`,
  since: (at: string) => `e.happened_at >= ${at}`,
} as const satisfies Record<keyof AuditFilter, (at: string) => string>;
const FILTERS = Object.keys(CONDITIONS) as readonly (keyof AuditFilter)[];

/** Reads the audit. */
@Injectable()
export class AuditStore {
  constructor(private readonly database: Database) {}

  /** Newest first, after `position`. The time does not depend on how many rows there are. */
  async list(
    filter: AuditFilter,
    limit: number,
    position: AuditPosition | undefined,
  ): Promise<readonly AuditRow[]> {
    const given = FILTERS.filter((name) => filter[name] !== undefined);
    const values: SqlValue[] = [limit, ...given.map((name) => filter[name] ?? null)];
    if (position !== undefined) values.push(position.at, position.id);
    const statement = listStatement(given, position !== undefined);
    return (await this.database.query<EntryRow>(statement, values)).map(toRow);
  }
}

/** A text for each set of filters, so that each is planned with the index that it needs. */
function listStatement(given: readonly (keyof AuditFilter)[], isLaterPage: boolean): Statement {
  const conditions = given.map((name, index) => CONDITIONS[name](`$${index + 2}`));
  const next = given.length + 2;
  if (isLaterPage) conditions.push(`(e.happened_at, e.id) < ($${next}::timestamptz, $${next + 1}::int8)`);
  return {
    name: `audit.list_${[...given, ...(isLaterPage ? ['after'] : [])].join('_')}`,
    text: `
      SELECT ${ENTRY_COLUMNS} FROM audit_entries AS e
      ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
      ORDER BY e.happened_at DESC, e.id DESC LIMIT $1`,
  };
}
