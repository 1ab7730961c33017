import type { SqlRunner, Statement } from '../database/sql.js';
import { type AuditHead, type AuditRow, CHAIN_START } from './audit-chain.js';

/** A row as the columns of `ENTRY_COLUMNS` give it. */
export interface EntryRow {
  id: string;
  happened_at: Date;
  actor: string;
  address: string | null;
  action: string;
  target: string;
  outcome: string;
  session_id: string | null;
  details: Record<string, unknown>;
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
const HEAD: Statement = {
  name: 'audit.head',
  text: `
    (SELECT sequence::float8, encode(hash, 'hex') AS hash FROM audit_seals ORDER BY audit_seals.sequence DESC LIMIT 1)
    UNION ALL
    (SELECT sequence::float8, encode(hash, 'hex') FROM audit_checkpoints
     ORDER BY audit_checkpoints.sequence DESC LIMIT 1)
    ORDER BY 1 DESC LIMIT 1`,
};

export async function findHead(runner: SqlRunner): Promise<AuditHead> {
  const [row] = await runner.query<{ sequence: number; hash: string }>(HEAD);
  return row ?? CHAIN_START;
}
