const MAX_LENGTH = 200;

/**
 * A provider's words made fit for a caller: one line, at most 200 characters, no secret, no credentials of a URL.
 * Markup is dropped altogether. Returns an empty string when nothing is left.
 */
export function sanitiseSentence(text: string | undefined, secrets: readonly string[]): string {
  if (text === undefined || text.trimStart().startsWith('<')) return '';
  const redacted = secrets
    .filter((secret) => secret !== '')
    .reduce((all, secret) => all.replaceAll(secret, '***'), text);
  const line = redacted
    .replace(/\/\/[^/\s@]*@/g, '//***@')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return line.length <= MAX_LENGTH ? line : `${line.slice(0, MAX_LENGTH - 1).trimEnd()}…`;
}
