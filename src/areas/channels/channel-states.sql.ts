import type { Statement } from '../../platform/database/sql.js';
import { emitSql } from '../../platform/events/emit.sql.js';

/** Whoever receives for a channel and does not say so for so long has lost it. It is said every second. */
export const RECEIVER_LEASE_SECS = 6;

const CONNECTED = emitSql('channel.connected', 'NULL', { name: '$1::text' });
const disconnected = (error: string): string =>
  emitSql('channel.disconnected', 'NULL', { name: '$1::text', error });

export const ANNOUNCE: Statement = {
  name: 'channels.announce',
  text: `INSERT INTO channel_states (name) SELECT unnest($1::text[]) ON CONFLICT (name) DO NOTHING`,
};

/** Takes the channels (`$2`) that nobody receives for, and keeps those that this replica (`$1`) has. */
export const ACQUIRE: Statement = {
  name: 'channels.keep',
  text: `
    UPDATE channel_states AS state SET owner = $1, lease_until = now() + interval '${RECEIVER_LEASE_SECS} seconds',
      fence = state.fence + CASE WHEN state.owner IS DISTINCT FROM $1 THEN 1 ELSE 0 END
    FROM (
      SELECT name FROM channel_states
      WHERE name = ANY ($2) AND (owner IS NULL OR owner = $1 OR lease_until < now())
      ORDER BY name FOR UPDATE SKIP LOCKED
    ) AS mine
    WHERE state.name = mine.name
    RETURNING state.name, state.fence::float8 AS fence, state.restarts::float8 AS restarts`,
};

export const RELEASE: Statement = {
  name: 'channels.release',
  text: `UPDATE channel_states SET owner = NULL, lease_until = NULL WHERE name = $1 AND owner = $2 AND fence = $3`,
};

/**
 * `$1` channel, `$2` replica, `$3` fence: it is `$4` now, because of `$5`. Conversations that wait for the platform to
 * come back are looked after at once when it does.
 */
export const WRITE: Statement = {
  name: 'channels.write_state',
  text: `
    WITH before AS (
      SELECT status FROM channel_states WHERE name = $1 AND owner = $2 AND fence = $3 FOR UPDATE
    ), written AS (
      UPDATE channel_states SET status = $4, error = $5,
        connected_at = CASE WHEN $4 = 'connected' THEN coalesce(connected_at, now()) END
      FROM before WHERE name = $1
    ), woken AS (
      UPDATE channel_conversations SET retry_at = NULL FROM before
      WHERE channel = $1 AND retry_at IS NOT NULL AND $4 = 'connected' AND before.status <> 'connected'
    )
    SELECT CASE
      WHEN status = $4 THEN 0
      WHEN $4 = 'connected' THEN ${CONNECTED}
      WHEN status = 'connected' OR $4 = 'disconnected' THEN ${disconnected('$5::text')}
      ELSE 0
    END AS deliveries FROM before`,
};

/** Asks whoever receives to begin anew. */
export const RESTART: Statement = {
  name: 'channels.restart',
  text: `
    WITH before AS (
      SELECT status FROM channel_states WHERE name = $1 FOR UPDATE
    ), written AS (
      UPDATE channel_states SET restarts = restarts + 1, status = 'reconnecting', error = NULL, connected_at = NULL
      FROM before WHERE name = $1 RETURNING restarts::float8 AS restarts
    )
    SELECT restarts, CASE WHEN status = 'connected' THEN ${disconnected('NULL::text')} ELSE 0 END AS deliveries
    FROM before, written`,
};

/** A channel that nobody receives for is on its way to somebody who will. */
export const READ: Statement = {
  name: 'channels.read_states',
  text: `
    SELECT name, error, connected_at,
      CASE WHEN owner IS NULL OR lease_until < now() THEN 'reconnecting' ELSE status END AS status
    FROM channel_states WHERE name = ANY ($1)`,
};

export const READ_CURSOR: Statement = {
  name: 'channels.read_cursor',
  text: `SELECT receive_cursor FROM channel_states WHERE name = $1`,
};
