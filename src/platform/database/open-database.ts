import type { Logger, Logs } from '../logging/logger.js';
import type { GatewaySettings } from '../settings/settings.schema.js';
import {
  createDataSource,
  type DatabaseAddress,
  isBehindPooler,
  type PooledDataSource,
  type PoolLimits,
  type Tables,
} from './data-source.js';
import { type OpenAddress, openAddress } from './open-address.js';

/** The embedded server allows 50 connections; some are kept for a second process and for migrations. */
const MAX_EMBEDDED = 20;

export interface OpenDatabase {
  readonly dataSource: PooledDataSource;
  readonly address: DatabaseAddress;
  /** True for the embedded server. */
  readonly embedded: boolean;
  close(): Promise<void>;
}

/**
 * Connects to PostgreSQL and checks that it is supported (14 or later). The caller closes it, and with it the server of
 * `opening`.
 */
export async function openDatabase(
  settings: GatewaySettings['database'],
  logs: Logs,
  tables?: Tables,
  opening = openAddress(settings, logs),
): Promise<OpenDatabase> {
  const logger = logs.for('database');
  const server = await opening;
  const pooler = await findPooler(server, settings, logger);
  const limits = {
    ...pooler,
    size: server.embedded ? Math.min(settings.pool_size, MAX_EMBEDDED) : settings.pool_size,
    connectTimeoutMs: settings.connect_timeout_ms,
    statementTimeoutMs: settings.statement_timeout_ms,
    onIdleError: (error: Error) =>
      logger.warn('a database connection broke and will be replaced', { reason: error.message }),
  };
  const dataSource = createDataSource(server.address, limits, tables);
  const close = async (): Promise<void> => {
    if (dataSource.isInitialized) await dataSource.destroy();
    await server.close();
  };
  try {
    await dataSource.initialize();
    await refuseOldServers(dataSource);
  } catch (error) {
    await close();
    throw error;
  }
  return { dataSource, address: server.address, embedded: server.embedded, close };
}

/** Closes what was opened when no server answers. */
async function findPooler(
  server: OpenAddress,
  { prepared_statements: setting, connect_timeout_ms: timeoutMs }: GatewaySettings['database'],
  logger: Logger,
): Promise<Pick<PoolLimits, 'sharesSessions' | 'namesStatements'>> {
  try {
    const sharesSessions = await isBehindPooler(server.address, timeoutMs);
    if (sharesSessions) logger.info('the database is behind a pooler', { prepared_statements: setting });
    return { sharesSessions, ...(setting === 'auto' ? {} : { namesStatements: setting === 'always' }) };
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function refuseOldServers(dataSource: PooledDataSource): Promise<void> {
  const rows: { version: string }[] = await dataSource.query(
    `SELECT current_setting('server_version_num') AS version`,
  );
  const major = Math.floor(Number(rows[0]?.version) / 10_000);
  if (major < 14) throw new Error(`PostgreSQL ${major} is too old: the gateway needs version 14 or later.`);
}
