import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { migrate } from '../../src/platform/database/schema.js';
import { silentLogs } from '../../src/platform/logging/logger.js';

/** A migrated database that belongs to one benchmark. */
export interface BenchDatabase {
  /** The value for `DATABASE_URL`. */
  readonly url: string;
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

/**
 * The PostgreSQL of a run: the one of BENCH_DATABASE_URL, otherwise an embedded one that is removed after the run.
 */
export class DatabaseServer {
  private constructor(
    private readonly adminUrl: string,
    readonly close: () => Promise<void>,
  ) {}

  static async open(): Promise<DatabaseServer> {
    const given = process.env['BENCH_DATABASE_URL'];
    if (given) return new DatabaseServer(given, () => Promise.resolve());
    const dataDir = await mkdtemp(join(tmpdir(), 'agw-bench-'));
    await chmod(dataDir, 0o711);
    const server = await EmbeddedPostgres.open({ dataDir, logger: silentLogs.for('bench') });
    const { host, port, user } = server.connection;
    const url = `postgres://${user}@localhost/postgres?host=${encodeURIComponent(host)}&port=${port}`;
    return new DatabaseServer(url, async () => {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    });
  }

  async createDatabase(): Promise<BenchDatabase> {
    const name = `gateway_bench_${randomBytes(6).toString('hex')}`;
    await query(this.adminUrl, `CREATE DATABASE ${name}`);
    const url = urlOf(this.adminUrl, name);
    await migrate({ url });
    return {
      url,
      query: (sql, values) => query(url, sql, values),
      drop: () => this.drop(name),
    };
  }

  private async drop(name: string): Promise<void> {
    await query(this.adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
}

function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}
