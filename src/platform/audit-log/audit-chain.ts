import { createHash } from 'node:crypto';
import { CannotOpen, type SecretBox } from '../secrets/secret-box.js';

/** A row of the audit. */
export interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly address: string | null;
  readonly action: string;
  readonly subject: string;
  readonly result: string;
  readonly sessionId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The newest row of the chain: a copy kept elsewhere shows when the end of the audit is removed. */
export interface AuditHead {
  /** The row's place in the chain, from 1; 0 when there is none. */
  readonly sequence: number;
  /** In hexadecimal. */
  readonly hash: string;
}

/** The first row is chained to this. */
export const CHAIN_START: AuditHead = { sequence: 0, hash: '0'.repeat(64) };

/**
 * The text of a row that is hashed. It is the same in every version: a JSON array of the row's fields in this order,
 * with the keys of `details` sorted on every level. docs/audit.md describes it for other verifiers.
 */
function canonicalRow(row: AuditRow): string {
  const { id, at, actor, address, action, subject, result, sessionId, details } = row;
  const fields = [id, at.toISOString(), actor, address, action, subject, result, sessionId, sorted(details)];
  return JSON.stringify(fields);
}

/** SHA-256 over the 32 bytes of the previous hash and the row, in hexadecimal. */
export function nextHash(previous: string, row: AuditRow): string {
  return createHash('sha256').update(Buffer.from(previous, 'hex')).update(canonicalRow(row)).digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

const CONTEXT = 'audit-checkpoint';

/** Only the holder of the master key can compute it. It holds for one place in the chain and one hash. */
export function signCheckpoint(box: SecretBox, { sequence, hash }: AuditHead): string {
  return box.seal(`${sequence}:${hash}`, CONTEXT);
}

export function isSigned(box: SecretBox, { sequence, hash }: AuditHead, signature: string): boolean {
  try {
    return box.open(signature, CONTEXT) === `${sequence}:${hash}`;
  } catch (error) {
    if (error instanceof CannotOpen) return false;
    throw error;
  }
}
