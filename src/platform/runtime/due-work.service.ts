import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { stackOf } from '../../common/errors/error-text.js';
import { Database } from '../database/database.js';
import type { SqlValue, Statement } from '../database/sql.js';
import { type Logger, Logs } from '../logging/logger.js';
import { Poller } from './poller.js';

/** Milliseconds between two polls: work that polling alone must find within 1.5 s is found in half that time. */
const POLL_MS = 400;
/** Longest time of one poll, in milliseconds; the next one comes after it. */
const TIMEOUT_MS = 5000;

/** A cheap question to the database whose answer says whether there is work to do. */
export interface DueCheck {
  /** Unique: the name of the answer's column. */
  readonly name: string;
  /** The longest time between two answers, in milliseconds; polls are 400 ms apart. */
  readonly everyMs: number;
  /** An SQL expression over indexes, such as `EXISTS (…)`; `$1` and so on are its `values`. It locks nothing. */
  readonly sql: string;
  readonly values?: () => readonly SqlValue[];
  /**
   * Receives each answer, and starts the work without waiting for it. Undefined when the database could not be asked:
   * the work then finds out by itself, and reports it.
   */
  readonly onAnswer: (answer: unknown) => void;
}

interface Asked {
  readonly check: DueCheck;
  askedAt: number;
}

/**
 * Asks the database what is due, for all areas of this process in one statement: with a poll for each, a replica with
 * nothing to do would cost a dozen transactions a second. Wake signals within the process are faster; this finds the
 * work of other replicas, what a crash left, and what falls due with time.
 */
@Injectable()
export class DueWork implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly checks: Asked[] = [];
  /** By text; one for each set of checks that are asked together. */
  private readonly statements = new Map<string, Statement>();
  private readonly poller = new Poller({
    everyMs: POLL_MS,
    look: () => this.poll(),
    failed: (error) =>
      this.logger.error('work that is due could not be begun; will retry', { error: stackOf(error) }),
  });
  private isStopped = false;
  private readonly logger: Logger;

  constructor(
    private readonly database: Database,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway');
  }

  /** Call it in `onModuleInit`, once for each name. */
  watch(check: DueCheck): void {
    this.checks.push({ check, askedAt: Number.NEGATIVE_INFINITY });
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    await this.poller.stop();
  }

  /** Asks the checks that would be late at the next poll. */
  private async poll(): Promise<void> {
    const now = performance.now();
    const due = this.checks.filter(({ check, askedAt }) => now - askedAt + POLL_MS > check.everyMs);
    if (due.length === 0) return;
    for (const one of due) one.askedAt = now;
    const checks = due.map(({ check }) => check);
    const answers = await this.answers(checks);
    if (this.isStopped) return;
    for (const check of checks) check.onAnswer(answers?.[check.name]);
  }

  /** The same checks make the same text under the same name, which each connection prepares once. */
  private statementOf(checks: readonly DueCheck[], values: readonly (readonly SqlValue[])[]): Statement {
    const text = textOf(checks, values);
    const known = this.statements.get(text);
    if (known !== undefined) return known;
    const statement = { name: `due_work.${this.statements.size + 1}`, text, timeoutMs: TIMEOUT_MS };
    this.statements.set(text, statement);
    return statement;
  }

  private async answers(checks: readonly DueCheck[]): Promise<Record<string, unknown> | undefined> {
    const values = checks.map((check) => check.values?.() ?? []);
    try {
      const statement = this.statementOf(checks, values);
      const [row] = await this.database.query<Record<string, unknown>>(statement, values.flat());
      return row;
    } catch {
      return undefined;
    }
  }
}

/** All checks in one statement; the values of each follow those of the checks before it. */
function textOf(checks: readonly DueCheck[], values: readonly (readonly SqlValue[])[]): string {
  let before = 0;
  const columns = checks.map(({ name, sql }, index) => {
    const from = before;
    before += values[index]?.length ?? 0;
    return `${renumbered(sql, from)} AS ${name}`;
  });
  return `SELECT ${columns.join(',\n  ')}`;
}

/** The expression with `from` added to each of its numbers: `$1` becomes `$3`. */
function renumbered(sql: string, from: number): string {
  const [first = '', ...rest] = sql.split('$');
  const moved = rest.map((text) => {
    const number = Number.parseInt(text, 10);
    return `${from + number}${text.slice(String(number).length)}`;
  });
  return [first, ...moved].join('$');
}
