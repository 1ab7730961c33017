import { Injectable } from '@nestjs/common';
import { LogStore } from './log.store.js';
import type { LogFilter, LogPage } from './log-entry.js';

/** Answers what was logged, on every replica. */
@Injectable()
export class LogsService {
  constructor(private readonly store: LogStore) {}

  /** The newest `limit` lines that match, oldest first, with the count of all that do. */
  list(filter: LogFilter, since: Date, limit: number): Promise<LogPage> {
    return this.store.list(filter, since, limit);
  }
}
