import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import {
  arrayOf,
  bigint,
  double,
  integer,
  jsonb,
  nullable,
  oneOf,
  text,
} from '../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../platform/database/statement.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { EventSignal } from '../../platform/events/event.store.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import { ChannelStateEntity } from './channel.entities.js';
import { type ChannelState, type ChannelStatus } from './channel.port.js';
import { type AdapterData } from './channel-adapter.port.js';

/** Lease of the receiving replica, in seconds; renewed every second. */
export const RECEIVER_LEASE_SECS = 6;

const CONNECTED = emitSql('channel.connected', 'NULL', { name: ':name::text' });
const disconnected = (error: string): string =>
  emitSql('channel.disconnected', 'NULL', { name: ':name::text', error });

const ANNOUNCE = statement({
  name: 'channels.announce',
  params: { names: arrayOf(text) },
  row: {},
  sql: `INSERT INTO channel_states (name) SELECT unnest(:names::text[]) ON CONFLICT (name) DO NOTHING`,
});

/** Acquires the free ones of the channels for a replica, and renews those it holds. */
const ACQUIRE = statement({
  name: 'channels.keep',
  params: { replica: text, names: arrayOf(text) },
  row: { name: text, fence: double, restarts: double },
  sql: `
    UPDATE channel_states AS state SET owner = :replica, lease_until = now() + interval '${RECEIVER_LEASE_SECS} seconds',
      fence = state.fence + CASE WHEN state.owner IS DISTINCT FROM :replica THEN 1 ELSE 0 END
    FROM (
      SELECT name FROM channel_states
      WHERE name = ANY (:names) AND (owner IS NULL OR owner = :replica OR lease_until < now())
      ORDER BY name FOR UPDATE SKIP LOCKED
    ) AS mine
    WHERE state.name = mine.name
    RETURNING state.name, state.fence::float8 AS fence, state.restarts::float8 AS restarts`,
});

const RELEASE = statement({
  name: 'channels.release',
  params: { name: text, replica: text, fence: bigint },
  row: {},
  sql: `UPDATE channel_states SET owner = NULL, lease_until = NULL WHERE name = :name AND owner = :replica AND fence = :fence`,
});

/**
 * Sets status and error, if the replica holds the channel. When the platform is back, conversations that waited for it are
 * due at once.
 */
const WRITE = statement({
  name: 'channels.write_state',
  params: { name: text, replica: text, fence: bigint, status: oneOf<ChannelStatus>(), error: nullable(text) },
  row: { deliveries: integer },
  sql: `
    WITH before AS (
      SELECT status FROM channel_states WHERE name = :name AND owner = :replica AND fence = :fence FOR UPDATE
    ), written AS (
      UPDATE channel_states SET status = :status, error = :error,
        connected_at = CASE WHEN :status = 'connected' THEN coalesce(connected_at, now()) END
      FROM before WHERE name = :name
    ), woken AS (
      UPDATE channel_conversations SET retry_at = NULL FROM before
      WHERE channel = :name AND retry_at IS NOT NULL AND :status = 'connected' AND before.status <> 'connected'
    )
    SELECT CASE
      WHEN status = :status THEN 0
      WHEN :status = 'connected' THEN ${CONNECTED}
      WHEN status = 'connected' OR :status = 'disconnected' THEN ${disconnected(':error::text')}
      ELSE 0
    END AS deliveries FROM before`,
});

/** Asks the receiving replica to reconnect. */
const RESTART = statement({
  name: 'channels.restart',
  params: { name: text, origin: jsonb<unknown>() },
  row: { restarts: double, deliveries: integer },
  sql: `
    WITH before AS (
      SELECT status FROM channel_states WHERE name = :name FOR UPDATE
    ), written AS (
      UPDATE channel_states SET restarts = restarts + 1, status = 'reconnecting', error = NULL, connected_at = NULL
      FROM before WHERE name = :name RETURNING name, restarts::float8 AS restarts
    ), audited AS (${auditedSql({ action: 'channel.restarted', subject: 'name', origin: ':origin', from: 'written' })})
    SELECT restarts, CASE WHEN status = 'connected' THEN ${disconnected('NULL::text')} ELSE 0 END AS deliveries
    FROM before, written`,
});

/** A channel without a receiver reads `reconnecting`: another replica is about to acquire it. */
const READ = statement({
  name: 'channels.read_states',
  params: { names: arrayOf(text) },
  row: {
    ...columnsOf(ChannelStateEntity, 'name', 'error', 'connectedAt'),
    status: oneOf<ChannelStatus>(),
  },
  sql: `
    SELECT name, error, connected_at,
      CASE WHEN owner IS NULL OR lease_until < now() THEN 'reconnecting' ELSE status END AS status
    FROM channel_states WHERE name = ANY (:names)`,
});

/** The right to receive for a channel. Writes with an old fence change nothing. */
export interface ReceiverLease {
  readonly name: string;
  readonly fence: number;
}

export interface HeldLease extends ReceiverLease {
  /** Restarts requested so far. */
  readonly restarts: number;
}

const UNKNOWN: ChannelState = { status: 'reconnecting', connectedAt: undefined, error: undefined };

/** The shared state of the channels, and which replica receives for which. */
@Injectable()
export class ChannelStates {
  constructor(
    private readonly database: Database,
    @InjectRepository(ChannelStateEntity) private readonly states: Repository<ChannelStateEntity>,
    private readonly replica: ReplicaId,
    private readonly signal: EventSignal,
  ) {}

  /** Creates the rows that leases are taken on. */
  async announce(names: readonly string[]): Promise<void> {
    await this.database.query(ANNOUNCE, { names });
  }

  /** Acquires the free ones among these and renews the held ones. @returns all that this replica holds now */
  acquire(names: readonly string[]): Promise<HeldLease[]> {
    return this.database.query(ACQUIRE, { replica: this.replica.value, names });
  }

  async release({ name, fence }: ReceiverLease): Promise<void> {
    await this.database.query(RELEASE, { name, replica: this.replica.value, fence });
  }

  /** Stores the status and emits its event. False when another replica holds the lease. */
  async write({ name, fence }: ReceiverLease, status: ChannelStatus, error?: string): Promise<boolean> {
    const [row] = await this.database.query(WRITE, {
      ...{ name, replica: this.replica.value, fence },
      ...{ status, error: error ?? null },
    });
    this.signal.queued(row?.deliveries);
    return row !== undefined;
  }

  /** The receiving replica reconnects within a second. @returns restarts requested so far */
  async restart(name: string): Promise<number> {
    await this.announce([name]);
    const [row] = await this.database.query(RESTART, { name, origin: originJson() });
    this.signal.queued(row?.deliveries);
    return row?.restarts ?? 0;
  }

  async of(name: string): Promise<ChannelState> {
    return (await this.ofAll([name])).get(name) ?? UNKNOWN;
  }

  async ofAll(names: readonly string[]): Promise<Map<string, ChannelState>> {
    const rows = await this.database.query(READ, { names });
    return new Map(rows.map((row) => [row.name, stateOf(row)]));
  }

  async cursorOf(name: string): Promise<AdapterData | null> {
    const state = await this.database.answered(this.states.findOneBy({ name }));
    return state?.receiveCursor ?? null;
  }
}

function stateOf({ status, error, connected_at }: RowOfStatement<typeof READ>): ChannelState {
  const isConnected = status === 'connected';
  return {
    status,
    connectedAt: isConnected ? (connected_at ?? undefined) : undefined,
    error: isConnected ? undefined : (error ?? undefined),
  };
}
