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
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const { processID: greeter } = client as unknown as { processID: number | null };
    return rows[0]?.pid !== greeter;
  } finally {
    await client.end().catch(() => undefined);
  }
}
