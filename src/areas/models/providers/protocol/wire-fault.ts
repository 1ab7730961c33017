/** What went wrong on a wire, before it is classified. */
export type WireFaultFacts =
  /** No connection, or one that broke; `code` is the system's code, such as ECONNREFUSED. */
  | { readonly kind: 'network'; readonly code: string | undefined }
  /** A response without success. `word` is the provider's type or code of the error. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers: Headers | undefined;
      readonly word: string | undefined;
      readonly sentence: string | undefined;
    }
  /** An error event within a stream that began well. */
  | { readonly kind: 'event'; readonly word: string | undefined; readonly sentence: string | undefined }
  /** The stream ended before its end marker. */
  | { readonly kind: 'cut' }
  /** The provider paused its answer more often than it is asked to continue. */
  | { readonly kind: 'paused' }
  /** Something that the wire's protocol does not know. */
  | { readonly kind: 'malformed'; readonly what: string }
  /** A bound was passed; `what` names it. */
  | { readonly kind: 'too_large'; readonly what: string };

/** Carries a fault from where it was seen to where it is classified; never shown to anyone. */
export class WireFault extends Error {
  constructor(readonly facts: WireFaultFacts) {
    super(`wire fault: ${facts.kind}`);
    this.name = 'WireFault';
  }
}
