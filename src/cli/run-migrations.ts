import { openAddress } from '../platform/database/open-address.js';
import { migrate } from '../platform/database/schema.js';
import { loadSettings } from '../platform/settings/settings-loader.js';
import type { CommandContext } from './command-context.js';
import { databaseLocation } from './database-place.js';
import { QuietLogs } from './quiet-logs.js';

export interface MigrationReport {
  /** What ran now, in its order. */
  readonly migrations: readonly string[];
  readonly location: string;
}

/** Runs what is missing, beside a gateway or without one. */
export async function runMigrations(context: CommandContext): Promise<MigrationReport> {
  const { environment } = context;
  const { settings } = loadSettings({ environment, file: context.configFile() });
  const opened = await openAddress(settings.database, new QuietLogs(context));
  try {
    return { migrations: await migrate(opened.address), location: databaseLocation(settings.database) };
  } finally {
    await opened.close();
  }
}
