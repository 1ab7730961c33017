import { z } from 'zod';

/** Marks of a key, beside its type, default, bounds and sentence. A mark on a table holds for everything in it. */
export interface KeyMarks {
  /** Replaced by the redaction marker wherever it is shown. */
  readonly secret?: true;
  /** Chooses an executable or opens a door: only the file and the environment may set it. */
  readonly fileOnly?: true;
  /** Takes effect at the next start. */
  readonly restart?: true;
}

export const keyMarks = z.registry<KeyMarks>();
