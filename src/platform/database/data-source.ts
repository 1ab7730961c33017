import pg, { Client, type Pool, type PoolConfig } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { migrations } from './migrations.js';

/** Where PostgreSQL answers: a URL, or the socket of the embedded server. */
export type DatabaseAddress =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

export interface PoolLimits {
  /** The largest number of connections. */
  readonly size: number;
  readonly connectTimeoutMs: number;
  /** The longest time of a single statement; 0 for no limit. */
  readonly statementTimeoutMs: number;
  /** A transaction pooler: each transaction may reach another server process, so nothing may depend on the session. */
  readonly sharesSessions?: boolean;
  /** Whether to name statements behind a pooler too, because it tracks them. */
  readonly namesStatements?: boolean;
  /** Called when a connection breaks while it is idle; the pool replaces it. */
  readonly onIdleError: (error: Error) => void;
}

/** The server cancels a statement in time. Behind a pooler that cannot be set, so the gateway stops waiting. */
function timeLimits({ statementTimeoutMs, sharesSessions = false }: PoolLimits): Record<string, number> {
  if (statementTimeoutMs === 0) return {};
  if (sharesSessions) return { query_timeout: statementTimeoutMs };
  return { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + 5000 };
}

/** The classes of tables, for the drift check and for repositories; statements need none. */
export type Tables = readonly EntityClass[];
type EntityClass = new () => object;

type PostgresOptions = Extract<DataSourceOptions, { readonly type: 'postgres' }>;

/** TypeORM's DataSource. `Database` uses the same pool, so that one limit holds and one place closes it. */
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

  /** Throws before `initialize`, which creates the pool. */
  get pool(): Pool {
    if (this.kept.pool === undefined) throw new Error('The DataSource is not initialized.');
    return this.kept.pool;
  }
}

/** The only way to connect to the database: the gateway, its command line and TypeORM's use it. */
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
 * Whether a pooler such as pgbouncer stands between the gateway and PostgreSQL. The server process that answers a query
 * is then not the one whose id came with the connection.
 */
export async function isBehindPooler(address: DatabaseAddress, timeoutMs: number): Promise<boolean> {
  // Nothing stands in front of the embedded server.
  if (!('url' in address)) return false;
  const client = new Client({
    connectionString: address.url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // When the connection breaks, the query below fails.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return !(await isDirect(client));
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether the server process whose id came with the connection also answers its queries. */
export async function isDirect(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const { processID: greeter } = client as unknown as { processID: number | null };
  return rows[0]?.pid === greeter;
}
