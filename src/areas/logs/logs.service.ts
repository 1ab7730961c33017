import { Injectable } from '@nestjs/common';
import { LogStore } from '../../platform/logging/log.store.js';
import type { LogFilter, LogPage } from '../../platform/logging/log-entry.js';

/** Finds log lines of all replicas. */
@Injectable()
export class LogsService {
  constructor(private readonly store: LogStore) {}

  /** The newest `limit` lines that match, oldest first, with the count of all that do. */
  list(filter: LogFilter, since: Date, limit: number): Promise<LogPage> {
    return this.store.list(filter, since, limit);
  }
}
