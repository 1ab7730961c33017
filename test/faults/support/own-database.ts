import { mkdtemp, rm } from 'node:fs/promises';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres.js';
import { silentLogs } from '../../../src/platform/logging/logger.js';
import { runningPostmaster, until } from '../../harness/gateway-process.js';

/** Runs a statement on a new connection. */
export type Query = <Row>(sql: string, values?: unknown[]) => Promise<Row[]>;

/** A PostgreSQL server for this test, which may stop it; the server then starts again at once. */
export class OwnDatabase {
  private constructor(
    private readonly folder: string,
    private readonly server: EmbeddedPostgres,
  ) {}

  static async open(): Promise<OwnDatabase> {
    const folder = await mkdtemp('/tmp/agw-db-');
    return new OwnDatabase(
      folder,
      await EmbeddedPostgres.open({ dataDir: folder, logger: silentLogs.for('test') }),
    );
  }

  get url(): string {
    return socketUrl(this.server.connection.host);
  }

  readonly query: Query = (sql, values) => queryAt(this.url, sql, values);

  /** Immediate: no notice to its clients, no checkpoint, recovery at the next start. */
  async restart(): Promise<void> {
    const before = runningPostmaster(this.folder);
    process.kill(before, 'SIGQUIT');
    await until(() => hasRestarted(this.folder, before, this.query), 60_000);
  }

  async close(): Promise<void> {
    await this.server.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The URL of a server that the test or a gateway has started, by its data directory. */
export function socketUrl(directory: string): string {
  return `postgres://gateway@localhost/agent_gateway?host=${encodeURIComponent(directory)}&port=5432`;
}

/** Whether a new process serves the data directory. */
export async function hasRestarted(dataDir: string, before: number, query: Query): Promise<boolean> {
  try {
    if (runningPostmaster(dataDir) === before) return false;
    await query('SELECT 1');
    return true;
  } catch {
    return false;
  }
}

export async function queryAt<Row>(url: string, sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
