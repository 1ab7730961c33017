import type { DataSourceOptions } from 'typeorm';
import { migrations } from './migrations.js';
import { tables } from './tables.js';

/** Where PostgreSQL answers: a URL, or the socket of the embedded server. */
export type DatabaseAddress =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

export interface PoolLimits {
  /** Most connections. */
  readonly size: number;
  readonly connectTimeoutMs: number;
  /** Longest single statement; 0 for no limit. */
  readonly statementTimeoutMs: number;
  /** Hears of connections that break while idle; they are replaced by themselves. */
  readonly onIdleError: (error: Error) => void;
}

export function dataSourceOptions(address: DatabaseAddress, limits: PoolLimits): DataSourceOptions {
  return {
    type: 'postgres',
    ...('url' in address
      ? { url: address.url }
      : {
          host: address.host,
          port: address.port,
          username: address.user,
          database: address.database,
          ssl: false,
        }),
    entities: tables,
    migrations,
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'all',
    synchronize: false,
    installExtensions: false,
    applicationName: 'agent-gateway',
    poolSize: limits.size,
    poolErrorHandler: limits.onIdleError,
    extra: {
      connectionTimeoutMillis: limits.connectTimeoutMs,
      statement_timeout: limits.statementTimeoutMs,
      ...(limits.statementTimeoutMs === 0 ? {} : { query_timeout: limits.statementTimeoutMs + 5000 }),
      idleTimeoutMillis: 60_000,
      keepAlive: true,
    },
  };
}
