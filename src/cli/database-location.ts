import { resolve } from 'node:path';
import type { GatewaySettings } from '../platform/settings/settings.schema.js';

/** Names the database for people, without user and password. */
export function databaseLocation({ url, data_dir: dataDir }: GatewaySettings['database']): string {
  if (url === '') return `embedded PostgreSQL in ${resolve(dataDir)}`;
  const { host, pathname, searchParams } = new URL(url);
  return `PostgreSQL at ${searchParams.get('host') ?? host}${decodeURIComponent(pathname)}`;
}
