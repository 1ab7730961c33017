import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { DatabaseAway } from '../../platform/database/database-failure.js';
import { Poller } from '../../platform/runtime/poller.js';
import type { ApprovalVerdict } from './tool-approvals.port.js';
import * as sql from './tool-approvals.sql.js';

/**
 * Milliseconds between two checks. Turns that wait for longer than `turns.park_after_ms` occupy no replica, and are not
 * checked here.
 */
const POLL_MS = 100;
/** The same while the database is away. */
const AWAY_MS = 500;

export interface VerdictTerms {
  /** Ends the wait, which then throws its reason. */
  readonly signal: AbortSignal;
  /** When the database is away for longer than this, the wait ends with its failure. */
  readonly limitMs: number;
}

interface Waiter {
  readonly id: string;
  readonly limitMs: number;
  readonly settle: (verdict: ApprovalVerdict) => void;
  readonly fail: (error: Error) => void;
}

/**
 * Waits for people's decisions about tool calls, for all turns of this process in one statement: with a statement for
 * each, many waiting calls would keep the decision itself from the database. Decisions made through this process are
 * known without a check.
 */
@Injectable()
export class VerdictWatch {
  private readonly waiters = new Set<Waiter>();
  private awaySince: number | undefined;
  private readonly poller = new Poller({
    everyMs: () => (this.awaySince === undefined ? POLL_MS : AWAY_MS),
    look: () => this.look([...this.waiters]),
    failed: (error) => this.failed(error as Error, [...this.waiters]),
  });

  constructor(private readonly database: Database) {}

  /**
   * @returns the decision about the call, within one check after it was made; `timeout` when it was deleted or ran out
   * of time
   */
  wait(id: string, { signal, limitMs }: VerdictTerms): Promise<ApprovalVerdict> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const end = () => {
        this.waiters.delete(waiter);
        signal.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        ...{ id, limitMs },
        settle: (verdict) => {
          end();
          resolve(verdict);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      const onAbort = () => waiter.fail(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      this.waiters.add(waiter);
      this.poller.start(POLL_MS);
    });
  }

  /** Called after the commit of a decision that was made through this process. */
  decided(id: string, verdict: ApprovalVerdict): void {
    for (const waiter of this.waiters) if (waiter.id === id) waiter.settle(verdict);
  }

  /** The database's time counts, so that nobody can decide what has been given up. */
  private async look(waiters: readonly Waiter[]): Promise<void> {
    if (waiters.length === 0) {
      this.awaySince = undefined;
      void this.poller.stop();
      return;
    }
    const ids = [...new Set(waiters.map(({ id }) => id))];
    try {
      const rows = await this.database.query(sql.VERDICTS, { ids });
      this.awaySince = undefined;
      const known = new Map(rows.map(({ id, verdict }) => [id, verdict]));
      for (const { id, settle } of waiters) {
        const verdict = known.has(id) ? known.get(id) : 'timeout';
        if (verdict !== null && verdict !== undefined) settle(verdict);
      }
    } catch (error) {
      this.failed(error as Error, waiters);
    }
  }

  private failed(error: Error, waiters: readonly Waiter[]): void {
    const isAway = error instanceof DatabaseAway;
    this.awaySince = isAway ? (this.awaySince ?? performance.now()) : undefined;
    const awayMs = performance.now() - (this.awaySince ?? 0);
    for (const { limitMs, fail } of waiters) if (!isAway || awayMs > limitMs) fail(error);
  }
}
