/** Leaves out the beginnings of answers that are still being written. */
export function completeAnswers<Said extends { readonly text: string }>(
  said: readonly Said[],
): readonly Said[] {
  return said.filter(({ text }) => !text.endsWith(' …'));
}
