/** Text from outside (models, tools) as PostgreSQL can keep it: without NUL, and with lone surrogates replaced. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
