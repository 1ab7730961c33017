import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import type { Database } from '../database/database.js';
import { columnsOf } from '../database/entity-columns.js';
import type { SqlRunner } from '../database/sql.js';
import { arrayOf, bigint, boolean, integer, text } from '../database/sql-types.js';
import { statement } from '../database/statement.js';
import { dueQuestion } from '../runtime/due-question.js';
import { ENTRY_COLUMNS, ENTRY_IF_THERE, type EntryRow, findHead, isThere, toRow } from './audit.sql.js';
import { nextHash } from './audit-chain.js';
import { AuditUnsealedEntity } from './audit-seal.entities.js';

/** Whether a row waits for its seal. */
export const ANY_UNSEALED = dueQuestion({
  name: 'audit_to_seal',
  params: {},
  answer: boolean,
  sql: 'EXISTS (SELECT 1 FROM audit_unsealed)',
});

const MAX_AT_ONCE = 500;

const LOCK = statement({
  name: 'audit.lock',
  params: {},
  row: { held: boolean },
  sql: `SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.sealingAudit}) AS held`,
});
const WAIT = statement({
  name: 'audit.wait_for_lock',
  params: {},
  row: {},
  sql: `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.sealingAudit})`,
});
const UNSEALED = statement({
  name: 'audit.unsealed',
  replanned: true,
  params: {},
  row: { ...columnsOf(AuditUnsealedEntity, 'entryId'), ...ENTRY_IF_THERE },
  sql: `
    SELECT u.entry_id, ${ENTRY_COLUMNS}
    FROM audit_unsealed AS u LEFT JOIN audit_entries AS e ON e.id = u.entry_id
    ORDER BY u.entry_id LIMIT ${MAX_AT_ONCE}`,
});
const SEAL = statement({
  name: 'audit.seal',
  params: { sequences: arrayOf(bigint), ids: arrayOf(bigint), hashes: arrayOf(text) },
  row: {},
  sql: `
    INSERT INTO audit_seals (sequence, entry_id, hash)
    SELECT sequence, entry_id, decode(hash, 'hex')
    FROM unnest(:sequences::int8[], :ids::int8[], :hashes::text[]) AS row (sequence, entry_id, hash)`,
});
const DONE = statement({
  name: 'audit.sealed',
  params: { ids: arrayOf(bigint) },
  row: {},
  sql: 'DELETE FROM audit_unsealed WHERE entry_id = ANY (:ids::int8[])',
});
/** For the hooks that subscribed to the audit; nothing is read when there are none. */
const ANNOUNCE = statement({
  name: 'audit.announce',
  params: { ids: arrayOf(bigint) },
  row: { deliveries: integer },
  sql: `
    SELECT coalesce(sum(emit_event('audit.recorded', NULL, json_build_object(
      'id', e.id::text, 'at', to_char(e.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'actor', e.actor, 'address', e.address, 'action', e.action, 'subject', e.target, 'result', e.outcome,
      'details', e.details))), 0)::int AS deliveries
    FROM audit_entries AS e WHERE e.id = ANY (:ids::int8[])
      AND EXISTS (SELECT 1 FROM hooks WHERE active AND events && ARRAY['audit.recorded', 'audit.*'])`,
});

/** Whether this transaction is now the only one that seals or trims. It stays the only one until it ends. */
export async function holdsChain(runner: SqlRunner): Promise<boolean> {
  const [row] = await runner.query(LOCK);
  return row?.held === true;
}

export interface SealedBatch {
  readonly sealed: number;
  /** Deliveries to hooks that subscribed to the audit. */
  readonly deliveries: number;
  readonly more: boolean;
}

/**
 * Gives the oldest rows without a seal their places in the chain, at most 500. Only one process at a time does so,
 * which puts the rows of all writers in one order. When another process is doing it, this one does nothing.
 * @param waits whether to wait for the other process instead
 */
export function sealBatch(database: Database, { waits = false } = {}): Promise<SealedBatch> {
  return database.transaction(async (runner) => {
    if (waits) await runner.query(WAIT);
    else if (!(await holdsChain(runner))) return { sealed: 0, deliveries: 0, more: false };
    const waiting = await runner.query(UNSEALED);
    if (waiting.length === 0) return { sealed: 0, deliveries: 0, more: false };
    // A row that was already deleted cannot be sealed.
    const there = waiting.filter(isThere);
    const ids = there.map(({ id }) => id);
    await chain(runner, there);
    await runner.query(DONE, { ids: waiting.map(({ entry_id }) => entry_id) });
    const [announced] = await runner.query(ANNOUNCE, { ids });
    return {
      sealed: ids.length,
      deliveries: announced?.deliveries ?? 0,
      more: waiting.length === MAX_AT_ONCE,
    };
  });
}

/** Seals everything that waits now, for commands that read the chain. */
export async function sealAll(database: Database): Promise<void> {
  while ((await sealBatch(database, { waits: true })).more);
}

async function chain(runner: SqlRunner, rows: readonly EntryRow[]): Promise<void> {
  const head = await findHead(runner);
  let { hash } = head;
  const hashes = rows.map((row) => {
    hash = nextHash(hash, toRow(row));
    return hash;
  });
  const sequences = rows.map((_row, index) => head.sequence + index + 1);
  await runner.query(SEAL, { sequences, ids: rows.map(({ id }) => id), hashes });
}
