import { type CopiedTable, CopyRefused, copyDatabase } from '../platform/database/database-copy.js';
import { openAddress } from '../platform/database/open-address.js';
import { migrate } from '../platform/database/schema.js';
import { loadSettings } from '../platform/settings/settings-loader.js';
import type { CommandContext } from './command-context.js';
import { databaseLocation, requireCluster } from './existing-database.js';
import { progressOn } from './progress.js';
import { QuietLogs } from './quiet-logs.js';

export interface MigrationReport {
  /** The migrations that ran now, in order. */
  readonly migrations: readonly string[];
  readonly location: string;
}

export interface MoveReport {
  readonly from: string;
  readonly to: string;
  readonly tables: readonly CopiedTable[];
}

/** Runs the missing migrations, whether or not a gateway is running. */
export async function runMigrations(context: CommandContext): Promise<MigrationReport> {
  const { environment } = context;
  const { settings } = loadSettings({ environment, file: context.configFile() });
  const logs = new QuietLogs(context);
  const opened = await openAddress(settings.database, logs);
  try {
    return {
      migrations: await migrate(opened.address, logs.for()),
      location: databaseLocation(settings.database),
    };
  } finally {
    await opened.close();
  }
}

/**
 * Copies the embedded database into the empty one of DATABASE_URL; the embedded one stays as it is.
 * @throws CopyRefused without DATABASE_URL, or when the target is not empty
 */
export async function moveDatabase(context: CommandContext): Promise<MoveReport> {
  const { settings } = loadSettings({ environment: context.environment, file: context.configFile() });
  const { database } = settings;
  if (database.url === '')
    throw new CopyRefused('There is nowhere to copy to: set DATABASE_URL to an empty PostgreSQL database.');
  const embedded = { ...database, url: '' };
  await requireCluster(embedded);
  const logs = new QuietLogs(context);
  const [source, target] = [await openAddress(embedded, logs), await openAddress(database, logs)];
  try {
    await migrate(source.address, logs.for());
    await migrate(target.address, logs.for());
    const progress = progressOn(context.terminal, 'migrate');
    const tables = await copyDatabase(source.address, target.address, (done, all) =>
      progress.show(done, all),
    ).finally(() => progress.end());
    return { from: databaseLocation(embedded), to: databaseLocation(database), tables };
  } finally {
    await source.close();
    await target.close();
  }
}
