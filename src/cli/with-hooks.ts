import { resolve } from 'node:path';
import { loadSettings } from '../config/settings-loader.js';
import { Database } from '../database/database.js';
import { openDatabase } from '../database/open-database.js';
import { migrate } from '../database/schema.js';
import { HookStore } from '../hooks/hook.store.js';
import { HookDesk } from '../hooks/hook-desk.js';
import { HookSecrets } from '../hooks/hook-secrets.js';
import { openSecretBox } from '../secrets/open-secret-box.js';
import type { CommandContext } from './command-context.js';
import { QuietLogs } from './quiet-logs.js';

/** The connections that one short command needs. */
const POOL_SIZE = 2;

export interface HookWork {
  readonly desk: HookDesk;
  readonly store: HookStore;
}

/** Opens the configured database beside whoever uses it, and leaves it again after the work. */
export async function withHooks<Result>(
  context: CommandContext,
  work: (given: HookWork) => Promise<Result>,
): Promise<Result> {
  const { environment } = context;
  const { settings } = loadSettings({ environment, file: context.configFile() });
  const opened = await openDatabase({ ...settings.database, pool_size: POOL_SIZE }, new QuietLogs(context));
  try {
    await migrate(opened.address);
    const { box } = await openSecretBox({
      masterKey: environment.masterKey,
      dataDir: resolve(settings.database.data_dir),
      embedded: opened.embedded,
      production: environment.nodeEnv === 'production',
    });
    const database = new Database(opened.dataSource);
    return await work({ desk: new HookDesk(database), store: new HookStore(database, new HookSecrets(box)) });
  } finally {
    await opened.close();
  }
}
