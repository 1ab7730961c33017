import type { LogEntry } from '../../src/platform/logging/log.store.js';

/** The line of this number, of which nothing matters but what it says. */
export function logEntry(id: number, message: string): LogEntry {
  return { id, timestamp: new Date(0), level: 'info', module: 'm', message, sessionId: undefined };
}
