import type { Redactor } from './redactor.js';

/**
 * The JSON line without secrets, still JSON: where taking one out broke the syntax (a secret of digits that stood as a
 * number), every key and value is redacted by itself instead.
 */
export function redactedLine(line: string, redactor: Redactor): string {
  const redacted = redactor.redact(line);
  if (redacted === line || isJson(redacted)) return redacted;
  return JSON.stringify(redactedValue(JSON.parse(line), redactor));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function redactedValue(value: unknown, redactor: Redactor): unknown {
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, redactor));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [redactor.redact(key), redactedValue(item, redactor)]),
    );
  }
  const text = String(value);
  const redacted = redactor.redact(text);
  return redacted === text ? value : redacted;
}
