import { resolve } from 'node:path';
import { Database } from '../platform/database/database.js';
import { type OpenDatabase, openDatabase } from '../platform/database/open-database.js';
import { migrate } from '../platform/database/schema.js';
import { onBehalfOf } from '../platform/logging/log-context.js';
import { isChecked } from '../platform/secrets/master-key-check.js';
import { openSecretBox } from '../platform/secrets/open-secret-box.js';
import type { SecretBox } from '../platform/secrets/secret-box.js';
import { type LoadedSettings, loadSettings } from '../platform/settings/settings-loader.js';
import type { CrossKeyCheck } from '../platform/settings/settings-validation.js';
import { type CommandContext, operatorActor } from './command-context.js';
import { requireCluster, requireCurrent, requireSchema, unfitOrSame } from './existing-database.js';
import { QuietLogs } from './quiet-logs.js';

/** Connections of one command. */
const POOL_SIZE = 2;

/**
 * What a command does with the database. `read` creates nothing and accepts an older schema where its statements run;
 * `change` needs the current schema; `make` creates database, schema and key file where they are missing.
 */
export type DatabaseAccess = 'read' | 'change' | 'make';

export interface DatabaseWork {
  readonly database: Database;
  readonly loaded: LoadedSettings;
  readonly logs: QuietLogs;
  /** Migrations that the schema lacks. */
  readonly missing: readonly string[];
  /** Opens the box with the gateway's master key. Rejects with `NoMasterKey` when there is none and the access is not `make`. */
  readonly openBox: () => Promise<SecretBox>;
}

/**
 * Opens the configured database, whether or not a gateway is running, and closes it after the work.
 * @param checks rules of areas that the settings must meet, beyond those of the schema
 * @throws DatabaseDoesNotFit when there is no database or its schema is too old for the access
 */
export async function withDatabase<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (given: DatabaseWork) => Promise<Result>,
  checks: readonly CrossKeyCheck[] = [],
): Promise<Result> {
  const { environment } = context;
  const loaded = loadSettings({ environment, file: context.configFile(), checks });
  const configured = loaded.settings.database;
  const logs = new QuietLogs(context);
  if (access !== 'make') await requireCluster(configured);
  const opened = await openDatabase({ ...configured, pool_size: POOL_SIZE }, logs);
  const openBox = async (): Promise<SecretBox> => {
    const { box } = await openSecretBox({
      masterKey: environment.masterKey,
      previousKey: environment.previousMasterKey,
      dataDir: resolve(configured.data_dir),
      embedded: opened.embedded,
      production: environment.nodeEnv === 'production',
      makesKeyFile: access === 'make',
    });
    await isChecked(new Database(opened.dataSource), box);
    return box;
  };
  try {
    if (access === 'make') await migrate(opened.address, logs.for());
    const operator = { actor: operatorActor(), address: null };
    return await onFittingSchema(opened, access, configured, (missing) =>
      onBehalfOf(
        () => operator,
        {},
        () => work({ database: new Database(opened.dataSource), loaded, logs, missing, openBox }),
      ),
    );
  } finally {
    await opened.close();
  }
}

async function onFittingSchema<Result>(
  { dataSource }: OpenDatabase,
  access: DatabaseAccess,
  settings: LoadedSettings['settings']['database'],
  work: (missing: readonly string[]) => Promise<Result>,
): Promise<Result> {
  if (access === 'make') return work([]);
  const state = await requireSchema(dataSource, settings);
  if (access === 'change') requireCurrent(state, settings);
  try {
    return await work(state.missing);
  } catch (error) {
    throw unfitOrSame(error, state, settings);
  }
}
