import { columnsOf } from '../database/entity-columns.js';
import type { SqlRunner } from '../database/sql.js';
import { double, orNull, type RowOf, text } from '../database/sql-types.js';
import { statement } from '../database/statement.js';
import { type AuditHead, type AuditRow, CHAIN_START } from './audit-chain.js';
import { AuditEntryEntity } from './audit-entry.entity.js';

/** The columns of `ENTRY_COLUMNS`; the id is text there. */
export const ENTRY = {
  ...columnsOf(
    AuditEntryEntity,
    'happenedAt',
    'actor',
    'address',
    'action',
    'target',
    'outcome',
    'sessionId',
    'details',
  ),
  id: text,
};
export type EntryRow = RowOf<typeof ENTRY>;

/** The same beside a seal, in an outer join: the columns are null when the entry is gone. */
export const ENTRY_IF_THERE = orNull(ENTRY);

export function isThere<Row extends RowOf<typeof ENTRY_IF_THERE>>(row: Row): row is Row & EntryRow {
  return row.id !== null;
}

/** Of `audit_entries AS e`. */
export const ENTRY_COLUMNS =
  'e.id::text, e.happened_at, e.actor, e.address, e.action, e.target, e.outcome, e.session_id, e.details';

export function toRow(row: EntryRow): AuditRow {
  return {
    id: row.id,
    at: row.happened_at,
    actor: row.actor,
    address: row.address,
    action: row.action,
    subject: row.target,
    result: row.outcome,
    sessionId: row.session_id,
    details: row.details,
  };
}

/** The newest seal; when retention has deleted all of them, the checkpoint that it left. */
const HEAD = statement({
  name: 'audit.head',
  params: {},
  row: { sequence: double, hash: text },
  sql: `
    (SELECT sequence::float8, encode(hash, 'hex') AS hash FROM audit_seals ORDER BY audit_seals.sequence DESC LIMIT 1)
    UNION ALL
    (SELECT sequence::float8, encode(hash, 'hex') FROM audit_checkpoints
     ORDER BY audit_checkpoints.sequence DESC LIMIT 1)
    ORDER BY 1 DESC LIMIT 1`,
});

export async function findHead(runner: SqlRunner): Promise<AuditHead> {
  const [row] = await runner.query(HEAD);
  return row ?? CHAIN_START;
}
