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

/** Before the first row: later than every time. */
export const NEWEST: readonly string[] = ['infinity', '9223372036854775807'];

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

  /** Newest first, after the row with this time and id. How long it takes does not depend on how many rows there are. */
  async list(filter: AuditFilter, limit: number, after: readonly string[]): Promise<readonly AuditRow[]> {
    const given = FILTERS.filter((name) => filter[name] !== undefined);
    const values: SqlValue[] = [limit, ...after, ...given.map((name) => filter[name] ?? null)];
    return (await this.database.query<EntryRow>(listStatement(given), values)).map(toRow);
  }
}

/**
 * Without filters all values stand in sub-selects, where the planner cannot see them: it finds no plan that is cheaper than the
 * general one, and keeps that. Otherwise each page of a large table would be planned anew, which takes longer than the page.
 */
const LIST: Statement = {
  name: 'audit.list',
  text: `
    SELECT ${ENTRY_COLUMNS} FROM audit_entries AS e
    WHERE (e.happened_at, e.id) < ((SELECT $2::timestamptz), (SELECT $3::int8))
    ORDER BY e.happened_at DESC, e.id DESC LIMIT (SELECT $1::int8)`,
};

/** Filters need a plan for their values: what is rare is found by another index than what most rows have. */
function listStatement(given: readonly (keyof AuditFilter)[]): Statement {
  if (given.length === 0) return LIST;
  const conditions = given.map((name, index) => ` AND ${CONDITIONS[name](`$${index + 4}`)}`);
  return {
    name: `audit.list_${given.join('_')}`,
    replanned: true,
    text: `
      SELECT ${ENTRY_COLUMNS} FROM audit_entries AS e
      WHERE (e.happened_at, e.id) < ($2::timestamptz, $3::int8)${conditions.join('')}
      ORDER BY e.happened_at DESC, e.id DESC LIMIT $1`,
  };
}
