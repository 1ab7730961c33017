import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { Database } from '../../platform/database/database.js';
import { ReplicaId } from '../../platform/lifecycle/replica-id.js';
import { type AttemptEnd, Supervisor } from '../../platform/runtime/supervisor.js';

/** Keys are random below this number, so that no two processes share one, and none is that of another advisory lock. */
const KEYS = 2 ** 47;
/** How often a lock that was not granted, or was lost with its connection, is tried again. */
const RETRY_MS = 2000;
/** Why an attempt ended behind a pooler, where no process has a session of its own. */
const NO_SESSIONS = 'there are no sessions';
/** The channel on which a stopping replica tells the others that it released lanes with something to send. */
export const LANES_LEFT = 'hook_lanes_left';

export interface LaneOwnerListener {
  /** The name under which lanes are held has changed: they have to be renewed. */
  renamed(): void;
  /** Another replica released lanes with something to send. */
  lanesLeft(): void;
}

/**
 * The name under which this process holds lanes. While it has a database session of its own, it holds an advisory lock
 * there, and the key of the lock is part of the name. PostgreSQL frees the lock the moment the process dies, which tells
 * the others that its lanes are free before their leases end. Behind a pooler, and while that connection is broken, the
 * plain name is used and the lease alone counts.
 */
@Injectable()
export class LaneOwner {
  private readonly key = randomInt(KEYS);
  private readonly plain: string;
  private readonly locked: string;
  private isLocked = false;
  private listener: LaneOwnerListener | undefined;
  private readonly supervisor = new Supervisor({
    attempt: (signal) => this.hold(signal),
    firstPauseMs: 0,
    leastPauseMs: () => RETRY_MS,
    isFinal: (why) => why === NO_SESSIONS,
  });

  constructor(
    private readonly database: Database,
    replica: ReplicaId,
  ) {
    this.plain = replica.value;
    this.locked = `${replica.value}#${this.key}`;
  }

  /** All names of this process; the first is the one to write. */
  get names(): readonly string[] {
    return this.isLocked ? [this.locked, this.plain] : [this.plain, this.locked];
  }

  start(listener: LaneOwnerListener): void {
    this.listener = listener;
    this.supervisor.start();
  }

  /** Frees the lock, and with it the lanes that are still held under it. */
  async stop(): Promise<void> {
    await this.supervisor.stop();
  }

  /** Holds the lock until the connection ends or the process stops. Any failure ends it. */
  private async hold(signal: AbortSignal): Promise<AttemptEnd> {
    const client = await this.database.session().catch(() => null);
    if (client === undefined) return { why: NO_SESSIONS, lastedMs: 0 };
    if (client === null) return { why: undefined, lastedMs: 0 };
    const over = new Promise<void>((resolve) => {
      client.on('error', () => resolve());
      client.on('end', () => resolve());
      // The stop may have come while the session was being opened.
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('notification', () => this.listener?.lanesLeft());
    try {
      if (await this.tryLock(client)) {
        await client.query(`LISTEN ${LANES_LEFT}`);
        this.isLocked = !signal.aborted;
        this.listener?.renamed();
        await over;
      }
    } catch {
      // It is tried again with another connection.
    }
    const wasLocked = this.isLocked;
    this.isLocked = false;
    if (wasLocked && !signal.aborted) this.listener?.renamed();
    await client.end().catch(() => undefined);
    return { why: undefined, lastedMs: 0 };
  }

  /** Does not wait: if the server has not noticed the end of our last connection, waiting would hold up its clean-up. */
  private async tryLock(client: Client): Promise<boolean> {
    await client.query('SET idle_session_timeout = 0');
    const { rows } = await client.query<{ granted: boolean }>('SELECT pg_try_advisory_lock($1) AS granted', [
      this.key,
    ]);
    return rows[0]?.granted === true;
  }
}
