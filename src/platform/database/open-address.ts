import { resolve } from 'node:path';
import type { Logs } from '../logging/logger.js';
import type { GatewaySettings } from '../settings/settings.schema.js';
import type { DatabaseAddress } from './data-source.js';
import { EmbeddedPostgres } from './embedded/embedded-postgres.js';

export interface OpenAddress {
  readonly address: DatabaseAddress;
  readonly embedded: boolean;
  /** Leaves the embedded server, which stops when no other process uses it. Does nothing for a server of your own. */
  close(): Promise<void>;
}

/** Finds the configured PostgreSQL, or else starts or adopts the embedded one. */
export async function openAddress(
  settings: GatewaySettings['database'],
  logs: Logs,
  onLaunch?: () => void,
): Promise<OpenAddress> {
  if (settings.url !== '') {
    return { address: { url: settings.url }, embedded: false, close: () => Promise.resolve() };
  }
  const server = await EmbeddedPostgres.open({
    dataDir: resolve(settings.data_dir),
    logger: logs.for('database::embedded'),
    ...(onLaunch && { onLaunch }),
  });
  return { address: server.connection, embedded: true, close: () => server.close() };
}
