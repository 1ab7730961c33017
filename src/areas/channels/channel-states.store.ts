import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { type Statement } from '../../platform/database/sql.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { EventSignal } from '../../platform/events/event-signal.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import { type ChannelState, type ChannelStatus } from './channel.port.js';
import { type AdapterData } from './channel-adapter.port.js';

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

/** The right to receive for a channel. What is written under an old fence changes nothing. */
export interface ReceiverLease {
  readonly name: string;
  readonly fence: number;
}

export interface HeldLease extends ReceiverLease {
  /** How often a restart was asked for, ever. */
  readonly restarts: number;
}

interface StateRow {
  name: string;
  status: ChannelStatus;
  error: string | null;
  connected_at: Date | null;
}

const UNKNOWN: ChannelState = { status: 'reconnecting', connectedAt: undefined, error: undefined };

/** What all replicas know of the channels, and who receives for which. */
@Injectable()
export class ChannelStates {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
    private readonly signal: EventSignal,
  ) {}

  /** From then on there is something to hold. */
  async announce(names: readonly string[]): Promise<void> {
    await this.database.query(ANNOUNCE, [names]);
  }

  /** Takes what is free among these and renews what this replica has. @returns what it has now */
  acquire(names: readonly string[]): Promise<HeldLease[]> {
    return this.database.query<{ name: string; fence: number; restarts: number }>(ACQUIRE, [
      this.replica.value,
      names,
    ]);
  }

  async release({ name, fence }: ReceiverLease): Promise<void> {
    await this.database.query(RELEASE, [name, this.replica.value, fence]);
  }

  /** Tells everybody, hooks included. False when the lease is somebody else's. */
  async write({ name, fence }: ReceiverLease, status: ChannelStatus, error?: string): Promise<boolean> {
    const values = [name, this.replica.value, fence, status, error ?? null];
    const [row] = await this.database.query<{ deliveries: number }>(WRITE, values);
    this.signal.queued(row?.deliveries);
    return row !== undefined;
  }

  /** Whoever receives begins anew within a second. @returns how often that was asked for, ever */
  async restart(name: string): Promise<number> {
    await this.announce([name]);
    const [row] = await this.database.query<{ restarts: number; deliveries: number }>(RESTART, [name]);
    this.signal.queued(row?.deliveries);
    return row?.restarts ?? 0;
  }

  async of(name: string): Promise<ChannelState> {
    return (await this.ofAll([name])).get(name) ?? UNKNOWN;
  }

  async ofAll(names: readonly string[]): Promise<Map<string, ChannelState>> {
    const rows = await this.database.query<StateRow>(READ, [names]);
    return new Map(rows.map((row) => [row.name, stateOf(row)]));
  }

  async cursorOf(name: string): Promise<AdapterData | null> {
    const [row] = await this.database.query<{ receive_cursor: AdapterData | null }>(READ_CURSOR, [name]);
    return row?.receive_cursor ?? null;
  }
}

function stateOf({ status, error, connected_at }: StateRow): ChannelState {
  const isConnected = status === 'connected';
  return {
    status,
    connectedAt: isConnected ? (connected_at ?? undefined) : undefined,
    error: isConnected ? undefined : (error ?? undefined),
  };
}
