import type { BenchDatabase } from '../harness/database-server.js';

const DATA = `'{"session_id":"sess_01jd8v3q5ze0psx2w9t6m4k7ah","channel":"api","user_id":"bench"}'`;
const HEAD = `'{"id":"evt_01jd8v3q5ze0psx2w9t6m4k7ah","event":"session.created","timestamp":"","sequence":1,"data":'`;

/** Creates this many hooks for one receiver. Nothing is sent before `startDeliveries`. */
export async function createHooks(database: BenchDatabase, hooks: number, port: number): Promise<void> {
  await database.query('DELETE FROM hooks');
  await database.query('DELETE FROM hook_lanes');
  await database.query(
    `INSERT INTO hooks (id, url, events, active)
     SELECT 'hook_' || n, 'http://127.0.0.1:' || $2::int || '/' || n, '{session.created}', false
     FROM generate_series(1, $1::int) AS n`,
    [hooks, port],
  );
  await database.query('INSERT INTO hook_lanes (hook_id) SELECT id FROM hooks');
}

/** Pending deliveries, spread evenly over the hooks, as if the gateway had been down. */
export async function fillOutbox(database: BenchDatabase, deliveries: number): Promise<void> {
  await database.query('UPDATE hooks SET active = false');
  await database.query('TRUNCATE hook_deliveries');
  await database.query('TRUNCATE events');
  await database.query(
    `INSERT INTO events (id, name, occurred_at, data)
     SELECT 'evt_' || n, 'session.created', now(), ${DATA} FROM generate_series(1, $1::int) AS n`,
    [deliveries],
  );
  await database.query(
    `INSERT INTO hook_deliveries (hook_id, event_id, event)
     SELECT 'hook_' || (n % (SELECT count(*)::int FROM hooks) + 1), 'evt_' || n, 'session.created'
     FROM generate_series(1, $1::int) AS n`,
    [deliveries],
  );
  await database.query('ANALYZE hook_deliveries');
}

export async function startDeliveries(database: BenchDatabase): Promise<void> {
  await database.query('UPDATE hooks SET active = true');
}

/** The same work for the bare loop: prepared bodies, no order, no signatures. */
export async function fillBareOutbox(
  database: BenchDatabase,
  deliveries: number,
  port: number,
): Promise<void> {
  await database.query('DROP TABLE IF EXISTS bare_outbox');
  await database.query(
    `CREATE TABLE bare_outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, origin text, path text, body text,
       claimed boolean NOT NULL DEFAULT false, done_at timestamptz)`,
  );
  await database.query('CREATE INDEX bare_outbox_waiting ON bare_outbox (id) WHERE NOT claimed');
  await database.query(
    `INSERT INTO bare_outbox (origin, path, body)
     SELECT 'http://127.0.0.1:' || $2::int, '/' || n % 100, ${HEAD} || ${DATA} || '}'
     FROM generate_series(1, $1::int) AS n`,
    [deliveries, port],
  );
  await database.query('ANALYZE bare_outbox');
}
