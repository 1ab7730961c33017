import { z } from 'zod';

/** Marks of a key, beside its type, default, bounds and sentence. A mark on a table holds for everything in it. */
export interface KeyMarks {
  /** Replaced by the redaction marker wherever it is shown. */
  readonly secret?: true;
  /** Chooses an executable or opens a door: only the file and the environment may set it. */
  readonly fileOnly?: true;
  /** Changes who may do what: over the API it needs the scope `security:write` beside `config:write`. */
  readonly security?: true;
  /** Takes effect at the next start. */
  readonly restart?: true;
  /** Says where this one replica listens: its own file and environment win over what is stored for all of them. */
  readonly perReplica?: true;
}

export const keyMarks = z.registry<KeyMarks>();
