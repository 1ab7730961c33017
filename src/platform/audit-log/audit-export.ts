import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type AuditHead, type AuditRow, CHAIN_START, nextHash } from './audit-chain.js';
import type { ChainedRow } from './audit-verifier.js';

/** An exported file that is not an export of the audit, or that was changed. */
class BadExport extends Error {
  constructor(path: string, line: number, problem: string) {
    super(`${path}, line ${line}: ${problem}`);
    this.name = new.target.name;
  }
}

/** A row as NDJSON, with all fields that are needed to compute its hash (docs/audit.md). */
export function exportedRow({ sequence, hash, entryId, row }: ChainedRow): string {
  if (row === undefined) return `${JSON.stringify({ sequence, hash, id: entryId, missing: true })}\n`;
  const { id, at, actor, address, action, subject, result, sessionId, details } = row;
  const time = at.toISOString();
  return `${JSON.stringify({ sequence, hash, id, at: time, actor, address, action, subject, result, session_id: sessionId, details })}\n`;
}

/** The last line: with this head anyone can see later whether the end of the audit was removed. */
export function exportedHead({ sequence, hash }: AuditHead): string {
  return `${JSON.stringify({ head: { sequence, hash }, exported_at: new Date().toISOString() })}\n`;
}

interface ExportedRow extends Omit<AuditRow, 'at' | 'sessionId'> {
  readonly sequence: number;
  readonly hash: string;
  readonly at: string;
  readonly session_id: string | null;
  readonly missing?: true;
  readonly head?: AuditHead;
}

/** Checks the chain within an exported file. Throws `BadExport`. @returns its head */
export async function checkExport(path: string): Promise<AuditHead> {
  let before: AuditHead = CHAIN_START;
  let head: AuditHead | undefined;
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    number += 1;
    const row = parsed(path, number, line);
    if (row.head !== undefined) head = row.head;
    else {
      const isFirst = number === 1;
      const { at, session_id: sessionId, ...rest } = row;
      const expected = nextHash(before.hash, { ...rest, at: new Date(at), sessionId });
      // Where retention has cut the chain, the file does not have the row before the first one.
      const follows = isFirst && row.sequence > 1 ? true : expected === row.hash;
      if (row.missing === true || !follows || (!isFirst && row.sequence !== before.sequence + 1))
        throw new BadExport(path, number, 'this row does not follow the one before it.');
      before = { sequence: row.sequence, hash: row.hash };
    }
  }
  if (head === undefined) throw new BadExport(path, number, 'the head is missing: the file is cut off.');
  if (number > 1 && (head.sequence !== before.sequence || head.hash !== before.hash))
    throw new BadExport(path, number, 'the head is not that of the rows before it.');
  return head;
}

function parsed(path: string, number: number, line: string): ExportedRow {
  try {
    return JSON.parse(line) as ExportedRow;
  } catch {
    throw new BadExport(path, number, 'this is not a line of an exported audit.');
  }
}
