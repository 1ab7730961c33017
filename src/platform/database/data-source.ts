import pg, { Client, type Pool, type PoolConfig } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { migrations } from './migrations.js';

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
  /** Two transactions may reach different server processes: no session settings, and no named statements. */
  readonly sharesSessions?: boolean;
  /** Named statements all the same: the pooler keeps them apart. */
  readonly namesStatements?: boolean;
  /** Called when a connection breaks while it is idle; the pool replaces it. */
  readonly onIdleError: (error: Error) => void;
}

/** The server ends a statement in time; where it cannot be told to, the gateway stops waiting. */
function timeLimits({ statementTimeoutMs, sharesSessions = false }: PoolLimits): Record<string, number> {
  if (statementTimeoutMs === 0) return {};
  if (sharesSessions) return { query_timeout: statementTimeoutMs };
  return { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + 5000 };
}

/** The classes of tables, for the drift check and for repositories; statements need none. */
export type Tables = readonly EntityClass[];
type EntityClass = new () => object;

type PostgresOptions = Extract<DataSourceOptions, { readonly type: 'postgres' }>;

/** TypeORM's DataSource, which shares its pool with `Database`: one limit, and one place that closes it. */
export class PooledDataSource extends DataSource {
  private readonly kept: { pool?: Pool };

  constructor(
    options: PostgresOptions,
    /** Whether statements may have names. */
    readonly namesStatements: boolean,
  ) {
    const kept: { pool?: Pool } = {};
    class KeptPool extends pg.Pool {
      constructor(config: PoolConfig) {
        super(config);
        kept.pool = this;
      }
    }
    super({ ...options, driver: { ...pg, Pool: KeptPool } });
    this.kept = kept;
  }

  /** Throws before `initialize`, which makes it. */
  get pool(): Pool {
    if (this.kept.pool === undefined) throw new Error('The DataSource is not initialized.');
    return this.kept.pool;
  }
}

/** The one way to make a connection to the database: the gateway, its command line and TypeORM's use this. */
export function createDataSource(
  address: DatabaseAddress,
  limits: PoolLimits,
  tables: Tables = [],
): PooledDataSource {
  const { namesStatements = limits.sharesSessions !== true } = limits;
  return new PooledDataSource(optionsOf(address, limits, tables), namesStatements);
}

function optionsOf(address: DatabaseAddress, limits: PoolLimits, tables: Tables): PostgresOptions {
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
    entities: [...tables],
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
      ...timeLimits(limits),
      idleTimeoutMillis: 60_000,
      keepAlive: true,
    },
  };
}

/**
 * Whether a pooler such as pgbouncer stands between us and PostgreSQL: then the process that greeted us is not the one
 * that answers, and with the next transaction it may be another one again.
 */
export async function isBehindPooler(address: DatabaseAddress, timeoutMs: number): Promise<boolean> {
  // Nothing stands before the embedded server.
  if (!('url' in address)) return false;
  const client = new Client({
    connectionString: address.url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // What breaks meanwhile makes the query fail.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return !(await isDirect(client));
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether the server process that greeted this connection is the one that answers it. */
export async function isDirect(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const { processID: greeter } = client as unknown as { processID: number | null };
  return rows[0]?.pid === greeter;
}
