import { setTimeout as sleep } from 'node:timers/promises';
import { type DataSource, QueryFailedError } from 'typeorm';
import type { Logger } from '../logging/logger.js';

/** How long a migration waits for locks that others hold. */
export interface LockTimeouts {
  /** For one lock. Others who want the table queue behind the migration for as long. */
  readonly lockMs: number;
  /** The first pause between two tries; it doubles with each try, up to ten times as long. */
  readonly pauseMs: number;
  /** For all tries of one migration together. */
  readonly mostMs: number;
}

export const DEFAULT_LOCK_TIMEOUTS: LockTimeouts = { lockMs: 3000, pauseMs: 3000, mostMs: 600_000 };

const LONGEST_PAUSE = 10;
const MAX_STATEMENT = 200;
/** A lock that was not free in time, and a deadlock: in both cases everything was rolled back. */
const LOCKED_OUT = new Set(['55P03', '40P01']);

/** The oldest transactions, which may hold what a migration waits for. */
const OLDEST = `
  SELECT pid, coalesce(nullif(application_name, ''), usename) AS client, state,
    extract(epoch FROM now() - xact_start)::int AS secs
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
  ORDER BY xact_start LIMIT 3`;

/** A table was in use for longer than a migration waits. */
class MigrationBlocked extends Error {
  constructor(migration: string, minutes: number, cause: QueryFailedError) {
    super(
      `The migration ${migration} could not get its lock for ${minutes} minutes: ${shortened(cause)}. ` +
        'End the transactions that hold it, then start again.',
      { cause },
    );
    this.name = new.target.name;
  }
}

/**
 * Pauses between the tries of a migration whose lock was not free, so that others can go first, and logs who may hold
 * it.
 */
export class LockWaits {
  private since: number | undefined;
  private tries = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: Logger,
    private readonly timeouts: LockTimeouts,
  ) {}

  /** Throws every other error at once, and `MigrationBlocked` when the lock was never free. */
  async pause(error: unknown, migration: string): Promise<void> {
    if (!isLockedOut(error)) throw error;
    this.since ??= performance.now();
    this.tries += 1;
    const { pauseMs, mostMs } = this.timeouts;
    if (performance.now() - this.since > mostMs)
      throw new MigrationBlocked(migration, Math.ceil(mostMs / 60_000), error);
    const longest = pauseMs * Math.min(LONGEST_PAUSE, 2 ** (this.tries - 1));
    const pause = Math.round((longest * (1 + Math.random())) / 2);
    this.logger.warn('a migration waits for a lock that others hold; they go first, then it is tried again', {
      ...{ migration, statement: shortened(error), again_in_ms: pause },
      oldest_transactions: await this.dataSource.query<object[]>(OLDEST),
    });
    await sleep(pause);
  }

  /** Call it when a migration has run. */
  end(): void {
    this.since = undefined;
    this.tries = 0;
  }
}

function isLockedOut(error: unknown): error is QueryFailedError {
  if (!(error instanceof QueryFailedError)) return false;
  const { code } = error.driverError as { readonly code?: string };
  return code !== undefined && LOCKED_OUT.has(code);
}

function shortened({ query }: QueryFailedError): string {
  return query.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_STATEMENT);
}
