import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { socketPort } from './data-directory.js';
import { codeOf, messageOf } from './embedded-postgres.error.js';
import { pidScope, processStart } from './process-facts.js';

export const superuser = 'gateway';
export const databaseName = 'agent_gateway';

const applicationName = 'agent-gateway presence';
const leavingName = 'agent-gateway leaving';
const connectTimeoutMs = 5_000;
/** Creating a database copies files, which takes long on a busy disk. */
const queryTimeoutMs = 30_000;

/**
 * The connection that this process keeps open while it uses the server. Other processes count these connections; when
 * this one ends, the server has died.
 */
export class Presence {
  /** Resolves with the reason when the connection ends other than by `leave`. */
  readonly lost: Promise<string>;

  private constructor(private readonly client: Client) {
    this.lost = new Promise((resolve) => {
      client.on('error', (error) => resolve(messageOf(error)));
      client.on('end', () => resolve('the connection ended'));
    });
  }

  /** Connects, and creates the gateway's database when it is absent. Rejects with the driver's error. */
  static async join(socketDirectory: string): Promise<Presence> {
    const client = new Client({
      host: socketDirectory,
      port: socketPort,
      user: superuser,
      database: 'postgres',
      application_name: `${applicationName} ${processMark(process.pid)}`,
      // Set here, because the driver would otherwise take them from PGSSLMODE and PGOPTIONS.
      ssl: false,
      options: `-c statement_timeout=${queryTimeoutMs}`,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryTimeoutMs,
    });
    const presence = new Presence(client);
    try {
      await client.connect();
      await presence.ensureDatabase();
      return presence;
    } catch (error) {
      await presence.end();
      throw error;
    }
  }

  private async ensureDatabase(): Promise<void> {
    const found = await this.client.query('SELECT 1 FROM pg_database WHERE datname = $1', [databaseName]);
    if (found.rowCount === 0) await this.client.query(`CREATE DATABASE ${databaseName}`);
  }

  /**
   * Whether another process uses the server. A process that was killed does not count, even if the server has not
   * noticed yet.
   */
  async hasOtherUsers(): Promise<boolean> {
    const { rows } = await this.client.query<{ application_name: string }>(
      `SELECT application_name FROM pg_stat_activity
        WHERE starts_with(application_name, $1) AND pid <> pg_backend_pid()`,
      [applicationName],
    );
    return rows.some(({ application_name }) => mayLive(application_name.slice(applicationName.length + 1)));
  }

  /**
   * The server notices the end of a connection a little late. The new name keeps others from counting it until then.
   */
  async leave(): Promise<void> {
    await this.client.query(`SET application_name = '${leavingName}'`).catch(() => undefined);
    await this.end();
  }

  private async end(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}

/** Identifies a process for good, within the 63 bytes of a connection's name. */
function processMark(pid: number): string {
  return `${pid} ${short(processStart(pid) ?? 'gone')} ${short(pidScope())}`;
}

function mayLive(mark: string): boolean {
  const [pid, , scope] = mark.split(' ');
  return scope !== short(pidScope()) || mark === processMark(Number(pid));
}

function short(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

const absent = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'EACCES'];
const notYet = '57P03';
/** Shutting down, crashed, starting, full; and the kernel's codes for the same. */
const passing = ['57P01', '57P02', notYet, '53300', 'ECONNRESET', 'EPIPE'];

/**
 * What a failed connection says about the server: nothing listens, it accepts no connections yet, it may answer soon,
 * or it never will.
 */
export type ConnectionProblem = 'absent' | 'closed' | 'passing' | 'lasting';

export function connectionProblem(error: unknown): ConnectionProblem {
  const code = codeOf(error);
  // The driver's own errors, such as a connection that was closed, have no code.
  if (code === undefined) return 'passing';
  if (absent.includes(code)) return 'absent';
  if (code === notYet) return 'closed';
  return passing.includes(code) ? 'passing' : 'lasting';
}
