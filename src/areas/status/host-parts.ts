import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Database } from '../../platform/database/database.js';
import { integer, timestamp } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { isChecked } from '../../platform/secrets/master-key-check.js';
import type { SecretBox } from '../../platform/secrets/secret-box.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import { type HealthPart, healthPart } from './health-part.js';

/** Less free space than this deserves a warning; less than a tenth of it is a failure. */
const LITTLE_ROOM_BYTES = 2 ** 31;
/** Tokens of users and leases tolerate a second of difference; signatures and JSON Web Tokens somewhat more. */
export const MAX_SKEW_MS = 2000;
export const FOLLOW_TIME = 'Let both hosts follow a time server (NTP).';
const SLOW_MS = 250;
/** The share of the connections that the server gives to clients: when more are taken it may soon refuse some. */
const MOST_TAKEN = 0.9;

const CLOCK = statement({
  name: 'health_parts.clock',
  params: {},
  row: { now: timestamp },
  sql: 'SELECT clock_timestamp() AS now',
});
/** By all clients of the server, including this gateway. */
const CONNECTIONS = statement({
  name: 'health_parts.connections',
  params: {},
  row: { taken: integer, most: integer },
  sql: `
    SELECT (SELECT sum(numbackends) FROM pg_stat_database WHERE datid <> 0)::int AS taken,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most`,
});

/**
 * How quickly the database answers, and whether its connections are enough: those of this process, and those of the
 * server.
 * @param use of its connections, from before a report began: the other parts use connections at the same time
 */
export async function databasePart(
  database: Pick<Database, 'query'>,
  { open, idle, waiting }: Database['poolUse'],
): Promise<HealthPart> {
  const ms = await answerMs(database);
  const detail = `it answers within ${ms} ms; ${open - idle} of ${open} connections are busy`;
  // The wait for a connection is part of the time: a short wait is no trouble by itself.
  if (ms >= SLOW_MS) {
    const advice = 'Raise database.pool_size, add replicas, or look for what loads the database.';
    return healthPart('database', 'warning', `${detail}, ${waiting} statements wait`, advice);
  }
  const [server] = await database.query(CONNECTIONS);
  if (server === undefined || server.taken < server.most * MOST_TAKEN)
    return healthPart('database', 'ok', detail);
  return healthPart(
    'database',
    'warning',
    `${detail}; ${server.taken} of the ${server.most} connections of its server are taken, and it refuses more than that`,
    'Raise max_connections of PostgreSQL, lower database.pool_size, or put a pooler between.',
  );
}

/** The best of up to three, asked within a second: one late answer (a new connection, a busy moment) is no slow database. */
async function answerMs(database: Pick<Database, 'query'>): Promise<number> {
  const began = performance.now();
  let best = Number.POSITIVE_INFINITY;
  for (let asked = 0; asked < 3 && best >= SLOW_MS && performance.now() - began < 1000; asked++) {
    const startedAt = performance.now();
    await database.query(CLOCK);
    best = Math.min(best, Math.round(performance.now() - startedAt));
  }
  return best;
}

/** The volume of the data folder: the embedded database, the key file, and the folders of users' tool servers. */
export async function diskPart({ url, data_dir: folder }: GatewaySettings['database']): Promise<HealthPart> {
  const isElsewhere = url !== '';
  const free = await freeBytes(resolve(folder));
  const beside = isElsewhere ? '; the database is on a server of its own, whose disk is not seen here' : '';
  if (free === undefined && isElsewhere) return healthPart('disk', 'ok', `there is no data folder${beside}`);
  if (free === undefined) throw new Error(`${resolve(folder)} does not exist`);
  const detail = `${(free / 2 ** 30).toFixed(1)} GiB are free in the data folder${beside}`;
  if (free >= LITTLE_ROOM_BYTES) return healthPart('disk', 'ok', detail);
  const status = free < LITTLE_ROOM_BYTES / 10 ? 'failing' : 'warning';
  return healthPart('disk', status, detail, 'Free space, or make the volume larger.');
}

/** Undefined for a folder that does not exist. */
async function freeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT')
      return undefined;
    throw error;
  }
}

/** @param here this host, for people: a replica, or the computer of the command line */
export async function clockPart(database: Database, here = 'this replica'): Promise<HealthPart> {
  const skew = Math.abs(await clockSkewMs(database));
  const detail = `${here} and the database differ by ${skew} ms`;
  if (skew <= MAX_SKEW_MS) return healthPart('clock', 'ok', detail);
  return healthPart('clock', 'failing', detail, FOLLOW_TIME);
}

/**
 * How many milliseconds this computer's clock is ahead of the database's, at least: the answer may have been made at
 * any time between the question and its arrival, so waiting for a connection counts as no difference.
 */
export async function clockSkewMs(database: Pick<Database, 'query'>): Promise<number> {
  const asked = Date.now();
  const [row] = await database.query(CLOCK);
  const answered = Date.now();
  const theirs = row?.now.getTime() ?? asked;
  if (theirs < asked) return asked - theirs;
  return theirs > answered ? answered - theirs : 0;
}

/** Rejects with a key that does not open what is sealed. */
export async function keysPart(database: Database, box: SecretBox): Promise<HealthPart> {
  const isBound = await isChecked(database, box);
  return healthPart('keys', 'ok', isBound ? 'the master key opens what is sealed' : 'nothing is sealed yet');
}
