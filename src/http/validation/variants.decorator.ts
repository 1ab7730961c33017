import { ApiExtension } from '@nestjs/swagger';

/** Metadata key of the variants of a request class, read when the document is completed. */
export const VARIANTS = 'x-variants';

export interface Variant {
  /** Fields that this variant must have. */
  readonly required: readonly string[];
  /** Fields that it must not have. */
  readonly without?: readonly string[];
  /** Further constraints on fields in this variant. */
  readonly stricter?: Readonly<Record<string, object>>;
}

export interface VariantRule {
  /** Whether a request matches exactly one of them, or may match several. */
  readonly combination: 'oneOf' | 'anyOf';
  /** By the names that clients generate types from. */
  readonly variants: Readonly<Record<string, Variant>>;
}

/** The forms that a request may take, for the OpenAPI document. The service checks the same rule. */
export const Variants = (combination: VariantRule['combination'], variants: VariantRule['variants']) =>
  ApiExtension(VARIANTS, { combination, variants } satisfies VariantRule);
