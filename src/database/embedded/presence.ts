import { Client } from 'pg';
import { messageOf } from './embedded-postgres.error.js';
import { socketPort } from './socket-directory.js';

export const superuser = 'gateway';
export const databaseName = 'agent_gateway';

const applicationName = 'agent-gateway presence';
const connectTimeoutMs = 5_000;
/** Making a database copies files, on a busy disk not fast. */
const queryTimeoutMs = 30_000;

/** One connection for as long as this process uses the server: the others count it, and its end tells that the server died. */
export class Presence {
  /** Resolves with the reason when the connection ends other than by `leave`. */
  readonly lost: Promise<string>;

  private constructor(private readonly client: Client) {
    this.lost = new Promise((resolve) => {
      client.on('error', (error) => resolve(messageOf(error)));
      client.on('end', () => resolve('the connection ended'));
    });
  }

  /** Rejects with the driver's error; its `code` tells a server that is not ready (`57P03`) from none (`ENOENT`). */
  static async join(socketDirectory: string): Promise<Presence> {
    const client = new Client({
      host: socketDirectory,
      port: socketPort,
      user: superuser,
      database: 'postgres',
      application_name: applicationName,
      // Said here, because the driver would otherwise take them from PGSSLMODE and PGOPTIONS.
      ssl: false,
      options: `-c statement_timeout=${queryTimeoutMs}`,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryTimeoutMs,
    });
    const presence = new Presence(client);
    await client.connect();
    return presence;
  }

  async ensureDatabase(): Promise<void> {
    const found = await this.client.query('SELECT 1 FROM pg_database WHERE datname = $1', [databaseName]);
    if (found.rowCount === 0) await this.client.query(`CREATE DATABASE ${databaseName}`);
  }

  /** How many other users the server has. */
  async others(): Promise<number> {
    const { rowCount } = await this.client.query(
      'SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()',
      [applicationName],
    );
    return rowCount ?? 0;
  }

  async leave(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}
