import { resolve } from 'node:path';
import { providerCheck } from '../agent/provider-setting.js';
import { type OpenedConfiguration, openConfiguration } from '../config/open-configuration.js';
import { loadSettings } from '../config/settings-loader.js';
import { Database } from '../database/database.js';
import { openDatabase } from '../database/open-database.js';
import { migrate } from '../database/schema.js';
import { Redactor } from '../logs/redactor.js';
import { openSecretBox } from '../secrets/open-secret-box.js';
import type { CommandContext } from './command-context.js';
import { QuietLogs } from './quiet-logs.js';

/** The connections that one short command needs. */
const POOL_SIZE = 2;

/** Opens the configuration with what was changed at run time, beside whoever uses it, and leaves it after the work. */
export async function withConfiguration<Result>(
  context: CommandContext,
  work: (opened: OpenedConfiguration) => Promise<Result>,
): Promise<Result> {
  const { environment } = context;
  const { anthropicApiKey: anthropic, openaiApiKey: openai, masterKey } = environment;
  const checks = [providerCheck({ anthropic, openai })];
  const loaded = loadSettings({ environment, file: context.configFile(), checks });
  const logs = new QuietLogs(context);
  const { database: wanted } = loaded.settings;
  const server = await openDatabase({ ...wanted, pool_size: POOL_SIZE }, logs);
  try {
    await migrate(server.address);
    const { box } = await openSecretBox({
      masterKey,
      dataDir: resolve(wanted.data_dir),
      embedded: server.embedded,
      production: environment.nodeEnv === 'production',
    });
    const database = new Database(server.dataSource);
    const redactor = new Redactor();
    return await work(
      await openConfiguration({ environment, loaded, database, box, logs, redactor, checks }),
    );
  } finally {
    await server.close();
  }
}
