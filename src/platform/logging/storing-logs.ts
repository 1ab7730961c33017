import { Database } from '../database/database.js';
import type { OpenDatabase } from '../database/open-database.js';
import type { Settings } from '../settings/settings.js';
import { LogStore } from './log.store.js';
import { LogWriter } from './log-writer.js';
import type { Logs } from './logger.js';

const LAST_FLUSH_MS = 5000;

/** The same database, with every log line from now on (and the newest of before) stored in it until it is closed. */
export function storingLogs(database: OpenDatabase, settings: Settings, logs: Logs): OpenDatabase {
  const writer = new LogWriter(new LogStore(new Database(database.dataSource)), settings, logs);
  return {
    ...database,
    close: async () => {
      const lost = await writer.stop(LAST_FLUSH_MS);
      if (lost > 0) logs.for('logs::store').warn('the last log lines could not be stored', { lines: lost });
      await database.close();
    },
  };
}
