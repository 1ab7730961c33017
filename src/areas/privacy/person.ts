import { createHash, createHmac } from 'node:crypto';
import type { SqlValue } from '../../platform/database/sql.js';

/** A person as the statements of the plan know one. */
export interface Person {
  readonly id: string;
  /** What stands for the id where rows stay: nobody finds it without the key. */
  readonly hash: string;
}

/** @param pseudonymKey from the master key; the same person gets the same hash as long as that stays */
export function personOf(id: string, pseudonymKey: Buffer): Person {
  return { id, hash: `erased-${createHmac('sha256', pseudonymKey).update(id).digest('hex').slice(0, 24)}` };
}

/** The CTE `given`, from the first five parameters. */
export const GIVEN = `given AS (
  SELECT $1::text AS id, $2::text AS hash, $3::text AS json, $4::text AS word, $5::text AS mark)`;

export function givenValues({ id, hash }: Person): readonly SqlValue[] {
  const word = `(^|[^[:alnum:]_-])${id.replace(/[^\p{L}\p{N}_]/gu, '\\$&')}($|[^[:alnum:]_-])`;
  const mark = `${createHash('sha256').update(id).digest('hex').slice(0, 16)}:`;
  return [id, hash, JSON.stringify(id), word, mark];
}
