import { createHash, createHmac } from 'node:crypto';

/** A person in the form that the plan's statements use. */
export interface Person {
  readonly id: string;
  /** Replaces the id in rows that stay: nobody can find it without the key. */
  readonly hash: string;
}

/** @param pseudonymKey from the master key; the same person gets the same hash as long as that stays */
export function personOf(id: string, pseudonymKey: Buffer): Person {
  return { id, hash: `erased-${createHmac('sha256', pseudonymKey).update(id).digest('hex').slice(0, 24)}` };
}

/** What the conditions of the plan know of a person. */
export interface PersonParams extends Person {
  /** The id as JSON text. */
  readonly json: string;
  /** An expression that finds the id as a word of its own. */
  readonly word: string;
  /** The beginning of the words of this person's memories. */
  readonly mark: string;
}

export function personParams({ id, hash }: Person): PersonParams {
  const word = `(^|[^[:alnum:]_-])${id.replace(/[^\p{L}\p{N}_]/gu, '\\$&')}($|[^[:alnum:]_-])`;
  const mark = `${createHash('sha256').update(id).digest('hex').slice(0, 16)}:`;
  return { id, hash, json: JSON.stringify(id), word, mark };
}
