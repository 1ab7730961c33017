/** The wait a provider asks for, in milliseconds; `retry-after-ms` goes before `retry-after` (seconds or an HTTP date). */
export function readRetryAfter(headers: Headers | undefined, now = Date.now()): number | undefined {
  const millis = numberOf(headers?.get('retry-after-ms'));
  if (millis !== undefined) return millis;
  const text = headers?.get('retry-after');
  const seconds = numberOf(text);
  if (seconds !== undefined) return seconds * 1000;
  // Left to itself, the parser takes nearly anything for a date.
  const date = text?.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberOf(text: string | null | undefined): number | undefined {
  return text && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
