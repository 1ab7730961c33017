import { resolve } from 'node:path';
import type { CrossKeyCheck } from '../config/cross-key-checks.js';
import { type LoadedSettings, loadSettings } from '../config/settings-loader.js';
import { Database } from '../database/database.js';
import { openDatabase } from '../database/open-database.js';
import { migrate } from '../database/schema.js';
import { openSecretBox } from '../secrets/open-secret-box.js';
import type { SecretBox } from '../secrets/secret-box.js';
import type { CommandContext } from './command-context.js';
import { QuietLogs } from './quiet-logs.js';

/** The connections that one short command needs. */
const POOL_SIZE = 2;

export interface DatabaseWork {
  readonly database: Database;
  readonly loaded: LoadedSettings;
  readonly logs: QuietLogs;
  /** With the gateway's master key. */
  readonly openBox: () => Promise<SecretBox>;
}

/**
 * Opens the configured database beside whoever uses it, brings it up to date, and leaves it again after the work.
 * @param checks rules of other areas that the settings must keep beside those of the schema
 */
export async function withDatabase<Result>(
  context: CommandContext,
  work: (given: DatabaseWork) => Promise<Result>,
  checks: readonly CrossKeyCheck[] = [],
): Promise<Result> {
  const { environment } = context;
  const loaded = loadSettings({ environment, file: context.configFile(), checks });
  const wanted = loaded.settings.database;
  const logs = new QuietLogs(context);
  const opened = await openDatabase({ ...wanted, pool_size: POOL_SIZE }, logs);
  const openBox = async (): Promise<SecretBox> => {
    const { box } = await openSecretBox({
      masterKey: environment.masterKey,
      dataDir: resolve(wanted.data_dir),
      embedded: opened.embedded,
      production: environment.nodeEnv === 'production',
    });
    return box;
  };
  try {
    await migrate(opened.address);
    return await work({ database: new Database(opened.dataSource), loaded, logs, openBox });
  } finally {
    await opened.close();
  }
}
