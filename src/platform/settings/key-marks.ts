import { z } from 'zod';

/** Marks of a key, besides its type, default, bounds and description. A mark on a table applies to everything in it. */
export interface KeyMarks {
  /** Shown as the redaction marker everywhere. */
  readonly secret?: true;
  /** Chooses an executable or gives access: only the file and the environment may set it. */
  readonly fileOnly?: true;
  /**
   * Changes who may do what, or destroys evidence or what users said: a change over the API also needs the scope
   * `security:write`, besides `config:write`.
   */
  readonly security?: true;
  /** Takes effect at the next start. */
  readonly restart?: true;
  /** Says where a replica listens: its own file and environment win over the value stored for all replicas. */
  readonly perReplica?: true;
}

export const keyMarks = z.registry<KeyMarks>();

/** Why a token that may change other keys over the API may not change those marked `security`. */
export const securityLabel = 'decides who may do what: a PATCH needs the scope security:write';

/** Whether a key can be changed over the API, but not with `config:write` alone. */
export function needsSecurity({ security, fileOnly }: KeyMarks): boolean {
  return security === true && fileOnly !== true;
}

/** The marks of a key in words. */
export function markLabels(marks: KeyMarks): readonly string[] {
  return [
    ...(marks.secret ? ['secret'] : []),
    ...(marks.fileOnly ? ['only in the file or the environment'] : []),
    ...(needsSecurity(marks) ? [securityLabel] : []),
    ...(marks.restart ? ['takes effect at the next start'] : []),
    ...(marks.perReplica ? ["a replica's own file or environment wins over a stored value"] : []),
  ];
}
