import type { Database } from '../database/database.js';
import { columnsOf } from '../database/entity-columns.js';
import { bigint, double, text } from '../database/sql-types.js';
import { statement } from '../database/statement.js';
import type { SecretBox } from '../secrets/secret-box.js';
import { ENTRY_COLUMNS, ENTRY_IF_THERE, isThere, toRow } from './audit.sql.js';
import { type AuditHead, CHAIN_START, isSigned, nextHash } from './audit-chain.js';
import { AuditCheckpointEntity, AuditSealEntity } from './audit-seal.entities.js';

const MAX_AT_ONCE = 1000;
/** Further ones are counted, not named. */
const MAX_NAMED = 100;

const TOTAL = statement({
  name: 'audit.total',
  params: {},
  row: { total: double },
  sql: 'SELECT count(*)::float8 AS total FROM audit_seals',
});
const CHECKPOINT = statement({
  name: 'audit.newest_checkpoint',
  params: {},
  row: { ...columnsOf(AuditCheckpointEntity, 'signature'), sequence: double, hash: text },
  sql: `
    SELECT sequence::float8, encode(hash, 'hex') AS hash, signature FROM audit_checkpoints
    ORDER BY audit_checkpoints.sequence DESC LIMIT 1`,
});
const PAGE = statement({
  name: 'audit.page_of_chain',
  params: { after: bigint },
  row: { ...columnsOf(AuditSealEntity, 'entryId'), sequence: double, hash: text, ...ENTRY_IF_THERE },
  sql: `
    SELECT s.sequence::float8, encode(s.hash, 'hex') AS hash, s.entry_id, ${ENTRY_COLUMNS}
    FROM audit_seals AS s LEFT JOIN audit_entries AS e ON e.id = s.entry_id
    WHERE s.sequence > :after ORDER BY s.sequence LIMIT ${MAX_AT_ONCE}`,
});
/** Rows that the trigger never noted. */
const STRAYS = statement({
  name: 'audit.strays',
  replanned: true,
  params: {},
  row: { id: text },
  sql: `
    SELECT e.id::text FROM audit_entries AS e
    WHERE NOT EXISTS (SELECT 1 FROM audit_seals AS s WHERE s.entry_id = e.id)
      AND NOT EXISTS (SELECT 1 FROM audit_unsealed AS u WHERE u.entry_id = e.id)
    ORDER BY e.id LIMIT ${MAX_NAMED}`,
});

/** A row of the chain, in order; `row` is undefined when the entry is gone. */
export interface ChainedRow extends AuditHead {
  readonly entryId: string;
  readonly row: ReturnType<typeof toRow> | undefined;
}

export interface Verification {
  /** One sentence for each row that was changed; at most 100, and a count of the others. Empty when all is well. */
  readonly problems: readonly string[];
  readonly rows: number;
  /** Where the chain begins: the checkpoint that retention left, or the first row ever. */
  readonly start: AuditHead;
  readonly head: AuditHead;
}

export interface VerifyRequest {
  /** Heads that were exported: they must still be in the chain. */
  readonly heads: readonly AuditHead[];
  readonly box: SecretBox;
  readonly progress?: (done: number, all: number) => void;
}

/** Where the chain begins, and its signature. */
async function startOf(database: Database): Promise<AuditHead & { readonly signature?: string }> {
  const [row] = await database.query(CHECKPOINT);
  return row ?? CHAIN_START;
}

export async function countSealed(database: Database): Promise<number> {
  const [row] = await database.query(TOTAL);
  return row?.total ?? 0;
}

/** The chain from its beginning, page by page. */
export async function* readChain(database: Database): AsyncGenerator<readonly ChainedRow[]> {
  for (let after = 0; ; ) {
    const rows = await database.query(PAGE, { after });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({
      ...{ sequence: row.sequence, hash: row.hash, entryId: row.entry_id },
      row: isThere(row) ? toRow(row) : undefined,
    }));
    after = last.sequence;
  }
}

/**
 * Computes every hash again. Finds rows that were changed, removed, moved or added outside the chain, and an end that
 * was removed.
 */
export async function verifyAudit(
  database: Database,
  { heads, box, progress }: VerifyRequest,
): Promise<Verification> {
  const found = new Problems();
  const all = await countSealed(database);
  const start = await startOf(database);
  if (start.signature !== undefined && !isSigned(box, start, start.signature))
    found.add(`The checkpoint at ${start.sequence} was not signed with this master key.`);
  const missing = new Map(heads.map((head) => [head.sequence, head.hash]));
  let rows = 0;
  let before: AuditHead = start;
  const settle = ({ sequence, hash }: AuditHead): void => {
    if (missing.get(sequence) !== undefined && missing.get(sequence) !== hash)
      found.add(`Row ${sequence} of the chain is not the one that was exported: the chain was written anew.`);
    missing.delete(sequence);
  };
  settle(start);
  for await (const page of readChain(database)) {
    for (const one of page) {
      found.add(problemOf(one, before));
      settle(one);
      before = one;
    }
    rows += page.length;
    progress?.(rows, all);
  }
  for (const sequence of missing.keys())
    found.add(
      sequence > before.sequence
        ? `The end of the audit was removed: row ${sequence} was exported, and ${before.sequence} is the last one.`
        : `Row ${sequence} was exported and is older than what is kept; nothing can be said of it.`,
    );
  for (const { id } of await database.query(STRAYS))
    found.add(`Entry ${id} was written past the chain, or its place in it was removed.`);
  return { problems: found.sentences, rows, start, head: { sequence: before.sequence, hash: before.hash } };
}

function problemOf({ sequence, hash, entryId, row }: ChainedRow, before: AuditHead): string | undefined {
  if (sequence !== before.sequence + 1)
    return `Rows ${before.sequence + 1} to ${sequence - 1} of the chain were removed.`;
  if (row === undefined) return `Row ${sequence} of the chain (entry ${entryId}) was removed.`;
  if (nextHash(before.hash, row) !== hash)
    return `Row ${sequence} of the chain (entry ${entryId}) was changed or moved.`;
  return undefined;
}

class Problems {
  private readonly named: string[] = [];
  private others = 0;

  add(sentence: string | undefined): void {
    if (sentence === undefined) return;
    if (this.named.length < MAX_NAMED) this.named.push(sentence);
    else this.others += 1;
  }

  get sentences(): readonly string[] {
    return this.others === 0 ? this.named : [...this.named, `${this.others} more rows are not as they were.`];
  }
}
