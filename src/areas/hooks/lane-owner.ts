import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { Database } from '../../platform/database/database.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';

/** Keys are random in here, so that no two processes have the same one, nor that of another purpose. */
const KEYS = 2 ** 47;
/** A lock that could not be had, or was lost with its connection, is tried again this often. */
const AGAIN_MS = 2000;
/** Who stops tells the others here that it left lanes with something to send. */
export const LANES_LEFT = 'hook_lanes_left';

export interface LaneOwnerListener {
  /** The name that lanes are to be held under has changed: they are to be renewed. */
  renamed(): void;
  /** Another replica left lanes to whoever comes first. */
  lanesLeft(): void;
}

/**
 * The name under which this process holds lanes. While it has a session of its own with the database, it keeps an
 * advisory lock there, whose key is part of the name: PostgreSQL frees the lock the moment the process dies, and the
 * others see by it that its lanes are free before their leases end. Behind a pooler, and while that connection is
 * broken, the name is the plain one and the lease alone counts.
 */
@Injectable()
export class LaneOwner {
  private readonly key = randomInt(KEYS);
  private readonly plain: string;
  private readonly locked: string;
  private isLocked = false;
  private readonly stopped = new AbortController();
  private keeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    replica: ReplicaId,
  ) {
    this.plain = replica.value;
    this.locked = `${replica.value}#${this.key}`;
  }

  /** All names of this process; the first one is to be written. */
  get names(): readonly string[] {
    return this.isLocked ? [this.locked, this.plain] : [this.plain, this.locked];
  }

  start(listener: LaneOwnerListener): void {
    this.keeping = this.keep(listener);
  }

  /** Frees the lock, and with it what is still held under it. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.keeping;
  }

  private async keep(listener: LaneOwnerListener): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      const client = await this.database.session().catch(() => null);
      if (client === undefined) return;
      if (client !== null) await this.holdOn(client, listener);
      await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Until the connection ends, or the process stops. Whatever fails ends it. */
  private async holdOn(client: Client, listener: LaneOwnerListener): Promise<void> {
    const over = new Promise<void>((resolve) => {
      client.on('error', () => resolve());
      client.on('end', () => resolve());
      this.stopped.signal.addEventListener('abort', () => resolve());
    });
    client.on('notification', () => listener.lanesLeft());
    try {
      if (await this.isFree(client)) {
        await client.query(`LISTEN ${LANES_LEFT}`);
        this.isLocked = !this.stopped.signal.aborted;
        listener.renamed();
        await over;
      }
    } catch {
      // It is tried again with another connection.
    }
    const wasLocked = this.isLocked;
    this.isLocked = false;
    if (wasLocked && !this.stopped.signal.aborted) listener.renamed();
    await client.end().catch(() => undefined);
  }

  /** Not waited for: where the server has not noticed the end of our last connection, that would hold up its clean-up. */
  private async isFree(client: Client): Promise<boolean> {
    await client.query('SET idle_session_timeout = 0');
    const { rows } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1) AS free', [
      this.key,
    ]);
    return rows[0]?.free === true;
  }
}
