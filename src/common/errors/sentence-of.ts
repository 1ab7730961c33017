/** The sentence of anything thrown, for people. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
