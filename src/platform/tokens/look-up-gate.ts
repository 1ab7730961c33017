/** Stands before the database when a token is presented that nobody here has seen yet. */
export interface LookUpGate {
  /** Resolves when the look-up may be made; rejects with what to answer instead. */
  enter(): Promise<void>;
  /** After every look-up that was let in; `isKnown` when there is such a token. */
  leave(isKnown: boolean): void;
}
