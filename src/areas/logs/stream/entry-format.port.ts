import type { LogEntry } from '../../../platform/logging/log-entry.js';

/** How a line looks on the wire of a stream; the module says whose face it is. */
export abstract class EntryFormat {
  /** What `JSON.stringify` makes the data of the event of. */
  abstract present(entry: LogEntry): object;
}
