import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { EventSignal } from '../../platform/events/event-signal.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import type { ChannelState, ChannelStatus } from './channel.port.js';
import type { AdapterData } from './channel-adapter.port.js';
import * as sql from './channel-states.sql.js';

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
    await this.database.query(sql.ANNOUNCE, [names]);
  }

  /** Takes what is free among these and renews what this replica has. @returns what it has now */
  acquire(names: readonly string[]): Promise<HeldLease[]> {
    return this.database.query<{ name: string; fence: number; restarts: number }>(sql.ACQUIRE, [
      this.replica.value,
      names,
    ]);
  }

  async release({ name, fence }: ReceiverLease): Promise<void> {
    await this.database.query(sql.RELEASE, [name, this.replica.value, fence]);
  }

  /** Tells everybody, hooks included. False when the lease is somebody else's. */
  async write({ name, fence }: ReceiverLease, status: ChannelStatus, error?: string): Promise<boolean> {
    const values = [name, this.replica.value, fence, status, error ?? null];
    const [row] = await this.database.query<{ deliveries: number }>(sql.WRITE, values);
    this.signal.queued(row?.deliveries);
    return row !== undefined;
  }

  /** Whoever receives begins anew within a second. @returns how often that was asked for, ever */
  async restart(name: string): Promise<number> {
    await this.announce([name]);
    const [row] = await this.database.query<{ restarts: number; deliveries: number }>(sql.RESTART, [name]);
    this.signal.queued(row?.deliveries);
    return row?.restarts ?? 0;
  }

  async of(name: string): Promise<ChannelState> {
    return (await this.ofAll([name])).get(name) ?? UNKNOWN;
  }

  async ofAll(names: readonly string[]): Promise<Map<string, ChannelState>> {
    const rows = await this.database.query<StateRow>(sql.READ, [names]);
    return new Map(rows.map((row) => [row.name, stateOf(row)]));
  }

  async cursorOf(name: string): Promise<AdapterData | null> {
    const [row] = await this.database.query<{ receive_cursor: AdapterData | null }>(sql.READ_CURSOR, [name]);
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
