import type { JsonSchema } from './compiled-schemas.js';

/** An order for the schema thread; one at a time. */
export interface SchemaOrder {
  /** Names the schema: the hash of its text. */
  readonly key: string;
  /** Absent when the thread has compiled it before. */
  readonly schema?: JsonSchema;
  /** The value to check; absent when the schema is only to be compiled. */
  readonly check?: { readonly value: unknown };
  /** Schemas that will not be used again. */
  readonly forget: readonly string[];
}

/**
 * What the thread answers: once `ready`, then for each order `compiled` or `broken`, and after `compiled` `checked`
 * when a value was given.
 */
export type SchemaReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'compiled' }
  | { readonly kind: 'broken'; readonly problem: string }
  | { readonly kind: 'checked'; readonly problem: string | undefined };
