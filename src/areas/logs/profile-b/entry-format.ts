import type { LogEntry } from '../../../platform/logging/log-entry.js';
import { EntryFormat } from '../stream/entry-format.port.js';
import { presentLogEntryB } from './log.views.js';

/** Streamed lines look like listed ones. */
export class EntryFormatB extends EntryFormat {
  present(entry: LogEntry): object {
    return presentLogEntryB(entry);
  }
}
