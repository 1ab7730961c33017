import { Injectable } from '@nestjs/common';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { Database } from '../../platform/database/database.js';
import { type Statement } from '../../platform/database/sql.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { EventSignal } from '../../platform/events/event.store.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import { type ChannelState, type ChannelStatus } from './channel.port.js';
import { type AdapterData } from './channel-adapter.port.js';

/** Lease of the receiving replica, in seconds; renewed every second. */
export const RECEIVER_LEASE_SECS = 6;

const CONNECTED = emitSql('channel.connected', 'NULL', { name: '$1::text' });
const disconnected = (error: string): string =>
  emitSql('channel.disconnected', 'NULL', { name: '$1::text', error });

const ANNOUNCE: Statement = {
  name: 'channels.announce',
  text: `INSERT INTO channel_states (name) SELECT unnest($1::text[]) ON CONFLICT (name) DO NOTHING`,
};

/** Acquires the free ones of the channels `$2` for replica `$1`, and renews those it holds. */
const ACQUIRE: Statement = {
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

const RELEASE: Statement = {
  name: 'channels.release',
  text: `UPDATE channel_states SET owner = NULL, lease_until = NULL WHERE name = $1 AND owner = $2 AND fence = $3`,
};

/**
 * Sets the status `$4` and error `$5` of channel `$1`, if replica `$2` holds it with fence `$3`. When the platform is back,
 * conversations that waited for it are due at once.
 */
const WRITE: Statement = {
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

/** Asks the receiving replica to reconnect. */
const RESTART: Statement = {
  name: 'channels.restart',
  text: `
    WITH before AS (
      SELECT status FROM channel_states WHERE name = $1 FOR UPDATE
    ), written AS (
      UPDATE channel_states SET restarts = restarts + 1, status = 'reconnecting', error = NULL, connected_at = NULL
      FROM before WHERE name = $1 RETURNING name, restarts::float8 AS restarts
    ), audited AS (${auditedSql({ action: 'channel.restarted', subject: 'name', origin: '$2', from: 'written' })})
    SELECT restarts, CASE WHEN status = 'connected' THEN ${disconnected('NULL::text')} ELSE 0 END AS deliveries
    FROM before, written`,
};

/** A channel without a receiver reads `reconnecting`: another replica is about to acquire it. */
const READ: Statement = {
  name: 'channels.read_states',
  text: `
    SELECT name, error, connected_at,
      CASE WHEN owner IS NULL OR lease_until < now() THEN 'reconnecting' ELSE status END AS status
    FROM channel_states WHERE name = ANY ($1)`,
};

const READ_CURSOR: Statement = {
  name: 'channels.read_cursor',
  text: `SELECT receive_cursor FROM channel_states WHERE name = $1`,
};

/** The right to receive for a channel. Writes with an old fence change nothing. */
export interface ReceiverLease {
  readonly name: string;
  readonly fence: number;
}

export interface HeldLease extends ReceiverLease {
  /** Restarts requested so far. */
  readonly restarts: number;
}

interface StateRow {
  name: string;
  status: ChannelStatus;
  error: string | null;
  connected_at: Date | null;
}

const UNKNOWN: ChannelState = { status: 'reconnecting', connectedAt: undefined, error: undefined };

/** The shared state of the channels, and which replica receives for which. */
@Injectable()
export class ChannelStates {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
    private readonly signal: EventSignal,
  ) {}

  /** Creates the rows that leases are taken on. */
  async announce(names: readonly string[]): Promise<void> {
    await this.database.query(ANNOUNCE, [names]);
  }

  /** Acquires the free ones among these and renews the held ones. @returns all that this replica holds now */
  acquire(names: readonly string[]): Promise<HeldLease[]> {
    return this.database.query<{ name: string; fence: number; restarts: number }>(ACQUIRE, [
      this.replica.value,
      names,
    ]);
  }

  async release({ name, fence }: ReceiverLease): Promise<void> {
    await this.database.query(RELEASE, [name, this.replica.value, fence]);
  }

  /** Stores the status and emits its event. False when another replica holds the lease. */
  async write({ name, fence }: ReceiverLease, status: ChannelStatus, error?: string): Promise<boolean> {
    const values = [name, this.replica.value, fence, status, error ?? null];
    const [row] = await this.database.query<{ deliveries: number }>(WRITE, values);
    this.signal.queued(row?.deliveries);
    return row !== undefined;
  }

  /** The receiving replica reconnects within a second. @returns restarts requested so far */
  async restart(name: string): Promise<number> {
    await this.announce([name]);
    const [row] = await this.database.query<{ restarts: number; deliveries: number }>(RESTART, [
      name,
      originJson(),
    ]);
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
