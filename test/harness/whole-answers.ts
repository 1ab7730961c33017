/** Texts that are no beginning of an answer which is still being written. */
export function wholeOnly<Said extends { readonly text: string }>(said: readonly Said[]): readonly Said[] {
  return said.filter(({ text }) => !text.endsWith(' …'));
}
