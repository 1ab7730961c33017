import type { JsonSchema } from './compiled-schemas.js';

/** What the thread of schemas is told to do; one order at a time. */
export interface SchemaOrder {
  /** Names the schema: the hash of its text. */
  readonly key: string;
  /** Absent when the thread has compiled it before. */
  readonly schema?: JsonSchema;
  /** The value to be checked; absent when the schema is only to be compiled. */
  readonly check?: { readonly value: unknown };
  /** Schemas that will not be asked for again. */
  readonly forget: readonly string[];
}

/** What the thread says: once `ready`, then for each order `compiled` or `broken`, and after `compiled` `checked` when asked. */
export type SchemaReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'compiled' }
  | { readonly kind: 'broken'; readonly problem: string }
  | { readonly kind: 'checked'; readonly problem: string | undefined };
