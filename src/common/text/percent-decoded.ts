/** Text with its `%20` and the like decoded as in a URL; unchanged when it is not encoded that way. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
