import type { LogFields } from './logger.js';

/** The keys that a line has by itself: a field of that name is kept under another. */
const OWN_KEYS = new Set(['level', 'timestamp', 'module', 'message', 'replica_id']);

/** Adds fields as they go into a line: errors as their sentence, none in the place of the line's own keys. */
export function addFields(line: Record<string, unknown>, fields: LogFields): void {
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    line[OWN_KEYS.has(key) ? `field_${key}` : key] = value instanceof Error ? String(value) : value;
  }
}
