import type { LogFields } from './logger.js';

/** The keys that a line has by itself: a field of that name is kept under another. */
const OWN_KEYS = new Set(['level', 'timestamp', 'module', 'message', 'replica_id']);

/** Fields as they go into a line: errors as their sentence, none in the place of the line's own keys. */
export function lineFields(fields: LogFields): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    plain[OWN_KEYS.has(key) ? `field_${key}` : key] = value instanceof Error ? String(value) : value;
  }
  return plain;
}
