import { loadSettings } from '../config/settings-loader.js';
import { Database } from '../database/database.js';
import { openDatabase } from '../database/open-database.js';
import { migrate } from '../database/schema.js';
import { TokenStore } from '../tokens/token.store.js';
import { TokensService } from '../tokens/tokens.service.js';
import type { CommandContext } from './command-context.js';
import { databasePlace } from './database-place.js';
import { QuietLogs } from './quiet-logs.js';

/** The connections that one short command needs. */
const POOL_SIZE = 2;

export interface TokenWork {
  readonly tokens: TokensService;
  /** Which database that was, for people. */
  readonly place: string;
}

/** Opens the configured database beside whoever uses it, brings it up to date, and leaves it again after the work. */
export async function withTokens<Result>(
  context: CommandContext,
  work: (given: TokenWork) => Promise<Result>,
): Promise<Result> {
  const { environment } = context;
  const { settings } = loadSettings({ environment, file: context.configFile() });
  const opened = await openDatabase({ ...settings.database, pool_size: POOL_SIZE }, new QuietLogs(context));
  try {
    await migrate(opened.address);
    const database = new Database(opened.dataSource);
    const tokens = new TokensService(new TokenStore(database), database);
    return await work({ tokens, place: databasePlace(settings.database) });
  } finally {
    await opened.close();
  }
}
