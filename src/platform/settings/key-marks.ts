import { z } from 'zod';

/** Marks of a key, besides its type, default, bounds and description. A mark on a table holds for everything in it. */
export interface KeyMarks {
  /** Shown as the redaction marker everywhere. */
  readonly secret?: true;
  /** Chooses an executable or gives access: only the file and the environment may set it. */
  readonly fileOnly?: true;
  /** Changes who may do what: over the API it needs the scope `security:write` beside `config:write`. */
  readonly security?: true;
  /** Takes effect at the next start. */
  readonly restart?: true;
  /** Says where a replica listens: its own file and environment win over what is stored for all replicas. */
  readonly perReplica?: true;
}

export const keyMarks = z.registry<KeyMarks>();
