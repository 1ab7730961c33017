import { basename } from 'node:path';
import { DataSource } from 'typeorm';
import {
  type DatabaseAddress,
  dataSourceOptions,
  type PoolLimits,
} from './src/platform/database/data-source-options.js';
import { openAddress } from './src/platform/database/open-address.js';
import { silentLogs } from './src/platform/logging/silent-logs.js';
import { readEnvironment } from './src/platform/settings/environment.js';
import { loadSettings } from './src/platform/settings/settings-loader.js';

/** The one definition of the database connection: the gateway, its command line and TypeORM's use this. */
export function createDataSource(address: DatabaseAddress, limits: PoolLimits): DataSource {
  return new DataSource(dataSourceOptions(address, limits));
}

async function dataSourceForCommandLine(): Promise<DataSource> {
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
