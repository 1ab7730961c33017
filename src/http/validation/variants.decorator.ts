import { ApiExtension } from '@nestjs/swagger';

/** Where a request class keeps its variants, until the document is complete. */
export const VARIANTS = 'x-variants';

export interface Variant {
  /** Fields that this variant must have. */
  readonly required: readonly string[];
  /** Fields that it must not have. */
  readonly without?: readonly string[];
  /** What more holds for a field in this variant. */
  readonly stricter?: Readonly<Record<string, object>>;
}

export interface VariantRule {
  /** Whether a request is one of them, or may be several at once. */
  readonly combination: 'oneOf' | 'anyOf';
  /** By the names that clients generate types from. */
  readonly variants: Readonly<Record<string, Variant>>;
}

/** The forms that a request may take, for the document: what no single field shows. The service checks the same rule. */
export const Variants = (combination: VariantRule['combination'], variants: VariantRule['variants']) =>
  ApiExtension(VARIANTS, { combination, variants } satisfies VariantRule);
