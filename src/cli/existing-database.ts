import { relative, resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import { percentDecoded } from '../common/text/percent-decoded.js';
import { hasCluster } from '../platform/database/embedded/cluster-files.js';
import { type SchemaState, schemaState } from '../platform/database/schema.js';
import type { GatewaySettings } from '../platform/settings/settings.schema.js';

type DatabaseSettings = GatewaySettings['database'];

/** SQLSTATEs of a statement that names a missing table, column or function. */
const ABSENT_STATES = ['42P01', '42703', '42883'];

/** The settings point at no database of a gateway, or at one whose schema is too old for the command. */
class DatabaseDoesNotFit extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** @throws DatabaseDoesNotFit when the embedded database has not been created yet */
export async function requireCluster({ url, data_dir: dataDir }: DatabaseSettings): Promise<void> {
  if (url !== '' || (await hasCluster(resolve(dataDir)))) return;
  throw new DatabaseDoesNotFit(
    `No gateway has run in ${shortPath(dataDir)} yet. Start it with "agent-gateway serve", or point GATEWAY_DATA_DIR, DATABASE_URL or --config at the gateway you mean.`,
  );
}

/** @throws DatabaseDoesNotFit for a database without the gateway's tables */
export async function requireSchema(
  dataSource: DataSource,
  settings: DatabaseSettings,
): Promise<SchemaState> {
  const state = await schemaState(dataSource);
  if (state.exists) return state;
  throw new DatabaseDoesNotFit(
    `No gateway has run on the ${databaseLocation(settings)} yet: it has none of its tables. Start one with "agent-gateway serve" (or run "agent-gateway migrate"), or point DATABASE_URL or --config at the gateway you mean.`,
  );
}

/** @throws DatabaseDoesNotFit for a schema that is older than this command */
export function requireCurrent({ missing }: SchemaState, settings: DatabaseSettings): void {
  if (missing.length > 0) throw olderSchema(missing, settings);
}

/**
 * Turns a statement's failure on an older schema into `DatabaseDoesNotFit`, which says what to do; returns others
 * unchanged.
 */
export function unfitOrSame(error: unknown, { missing }: SchemaState, settings: DatabaseSettings): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isAbsence = typeof code === 'string' && ABSENT_STATES.includes(code);
  return isAbsence && missing.length > 0 ? olderSchema(missing, settings, error) : error;
}

function olderSchema(
  missing: readonly string[],
  settings: DatabaseSettings,
  cause?: unknown,
): DatabaseDoesNotFit {
  const lacks = missing.length === 1 ? missing[0] : `${missing.length} migrations, from ${missing[0]} on`;
  return new DatabaseDoesNotFit(
    `The schema of the ${databaseLocation(settings)} is older than this command: it lacks ${lacks}. Run "agent-gateway migrate" (or start the gateway of this version), or use the command of the version that serves this database.`,
    { cause },
  );
}

/** Relative if the path is inside the working directory, else absolute. */
function shortPath(path: string): string {
  const near = relative('', path);
  return near.startsWith('..') ? resolve(path) : `./${near}`;
}

/** Names the database for people, without user and password. */
export function databaseLocation({ url, data_dir: dataDir }: GatewaySettings['database']): string {
  if (url === '') return `embedded PostgreSQL in ${resolve(dataDir)}`;
  const { host, pathname, searchParams } = new URL(url);
  return `PostgreSQL at ${searchParams.get('host') ?? host}${percentDecoded(pathname)}`;
}
