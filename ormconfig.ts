import { basename } from 'node:path';
import {
  createDataSource as createWithTables,
  type DatabaseAddress,
  type PooledDataSource,
  type PoolLimits,
} from './src/platform/database/data-source.js';
import { openAddress } from './src/platform/database/open-address.js';
import { silentLogs } from './src/platform/logging/logger.js';
import { readEnvironment } from './src/platform/settings/environment.js';
import { loadSettings } from './src/platform/settings/settings-loader.js';
import { tables } from './src/tables.js';

/** A connection that knows every table, for TypeORM's command line and for tests. */
export function createDataSource(address: DatabaseAddress, limits: PoolLimits): PooledDataSource {
  return createWithTables(address, limits, tables);
}

async function dataSourceForCommandLine(): Promise<PooledDataSource> {
  const { settings } = loadSettings({ environment: readEnvironment() });
  const { address } = await openAddress(settings.database, silentLogs);
  return createDataSource(address, {
    size: 2,
    connectTimeoutMs: settings.database.connect_timeout_ms,
    statementTimeoutMs: settings.database.statement_timeout_ms,
    onIdleError: () => undefined,
  });
}

/** TypeORM's command line awaits an exported promise; nobody else shall open a database by importing this file. */
const startedByTypeorm =
  basename(process.argv[1] ?? '').startsWith('typeorm') || process.argv[1]?.includes('/typeorm/cli') === true;

export default startedByTypeorm ? dataSourceForCommandLine() : undefined;
