import type { LogEntry } from '../../src/platform/logging/log.store.js';

/** A log entry with this id; only its message matters. */
export function logEntry(id: number, message: string): LogEntry {
  return { id, timestamp: new Date(0), level: 'info', module: 'm', message, sessionId: undefined };
}
