import { Client } from 'pg';
import type { DatabaseAddress } from './data-source-options.js';

/**
 * Whether a pooler such as pgbouncer stands between us and PostgreSQL: then the process that greeted us is not the one
 * that answers, and with the next transaction it may be another one again.
 */
export async function isBehindPooler(address: DatabaseAddress, timeoutMs: number): Promise<boolean> {
  // The embedded server has nobody before it.
  if (!('url' in address)) return false;
  const client = new Client({
    connectionString: address.url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // Whatever breaks while we ask makes the question fail.
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
