import type { LogEntry } from '../../../platform/logging/log-entry.js';

/** How a line looks in a stream; the module binds the profile that formats it. */
export abstract class EntryFormat {
  /** What `JSON.stringify` makes the data of the event of. */
  abstract present(entry: LogEntry): object;
}
