import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { isChecked } from '../../platform/secrets/master-key-check.js';
import type { SecretBox } from '../../platform/secrets/secret-box.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import { type HealthPart, healthPart } from './health-part.js';

/** Less free space than this is worth a look, and less than a tenth of it is a failure. */
const LITTLE_ROOM_BYTES = 2 ** 31;
/** Tokens of users and leases stand a second of difference; signatures and JSON Web Tokens some more. */
const MAX_SKEW_MS = 2000;
const SLOW_MS = 250;

const CLOCK: Statement = { name: 'health_parts.clock', text: 'SELECT clock_timestamp() AS now' };

/**
 * How soon the database answers, and whether its connections are enough.
 *
 * @param use of its connections, from before a report began: the other parts ask at the same time
 */
export async function databasePart(
  database: Pick<Database, 'query'>,
  { open, idle, waiting }: Database['poolUse'],
): Promise<HealthPart> {
  const startedAt = performance.now();
  await database.query(CLOCK);
  const ms = Math.round(performance.now() - startedAt);
  const detail = `it answers within ${ms} ms; ${open - idle} of ${open} connections are busy`;
  // The wait for a connection is part of the time: that some wait for a moment is no trouble by itself.
  if (ms < SLOW_MS) return healthPart('database', 'ok', detail);
  const advice = 'Raise database.pool_size, add replicas, or look for what loads the database.';
  return healthPart('database', 'warning', `${detail}, ${waiting} statements wait`, advice);
}

export async function diskPart({ url, data_dir: folder }: GatewaySettings['database']): Promise<HealthPart> {
  if (url !== '')
    return healthPart('disk', 'ok', 'the database is on a server of its own, and stores what it is given');
  const { bavail, bsize } = await statfs(resolve(folder));
  const free = bavail * bsize;
  const detail = `${(free / 2 ** 30).toFixed(1)} GiB are free in the data folder`;
  if (free >= LITTLE_ROOM_BYTES) return healthPart('disk', 'ok', detail);
  const status = free < LITTLE_ROOM_BYTES / 10 ? 'failing' : 'warning';
  return healthPart('disk', status, detail, 'Free space, or make the volume larger.');
}

/** @param here this host, for people: a replica, or the computer of the command line */
export async function clockPart(database: Database, here = 'this replica'): Promise<HealthPart> {
  const before = Date.now();
  const [row] = await database.query<{ now: Date }>(CLOCK);
  const middle = (before + Date.now()) / 2;
  const skew = Math.round(Math.abs((row?.now.getTime() ?? middle) - middle));
  const detail = `${here} and the database differ by ${skew} ms`;
  if (skew <= MAX_SKEW_MS) return healthPart('clock', 'ok', detail);
  return healthPart('clock', 'failing', detail, 'Let both hosts follow a time server (NTP).');
}

/** Rejects with a key that does not open what is sealed. */
export async function keysPart(database: Database, box: SecretBox): Promise<HealthPart> {
  const isBound = await isChecked(database, box);
  return healthPart('keys', 'ok', isBound ? 'the master key opens what is sealed' : 'nothing is sealed yet');
}
