import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { SqlValue, Statement } from '../database/sql.js';

/** Milliseconds between two looks: what has to be known within 1.5 s by polling alone is found in half of that. */
const POLL_MS = 400;
/** Milliseconds for one look; the next one comes after it. */
const TIMEOUT_MS = 5000;

/** A cheap question to the database whose answer says whether there is work to do. */
export interface DueCheck {
  /** A word of its own: the name of the answer's column. */
  readonly name: string;
  /** The longest time between two answers, in milliseconds; looks are 400 ms apart. */
  readonly everyMs: number;
  /** An SQL expression over indexes, such as `EXISTS (…)`; `$1` and so on are its `values`. It locks nothing. */
  readonly sql: string;
  readonly values?: () => readonly SqlValue[];
  /**
   * Takes each answer, and begins the work without waiting for it. Undefined when the database could not be asked: then
   * nobody knows, and whoever does the work finds out, and says so.
   */
  readonly onAnswer: (answer: unknown) => void;
}

interface Asked {
  readonly question: DueCheck;
  askedAt: number;
}

/**
 * Asks the database what has come up, for all areas of this process in one statement: where each had a poll of its own,
 * a replica with nothing to do cost a dozen transactions a second. Signals within the process are faster; this is what
 * finds the work of other replicas, of crashes and of time.
 */
@Injectable()
export class DueWork implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly checks: Asked[] = [];
  /** By text; as many as there are rhythms to ask in. */
  private readonly statements = new Map<string, Statement>();
  private readonly stopped = new AbortController();
  private looking: Promise<void> = Promise.resolve();

  constructor(private readonly database: Database) {}

  /** Call it in `onModuleInit`, once for each name. */
  watch(question: DueCheck): void {
    this.checks.push({ question, askedAt: Number.NEGATIVE_INFINITY });
  }

  onApplicationBootstrap(): void {
    this.looking = this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped.abort();
    await this.looking;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      await this.poll();
      await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Asks what would come too late with the next look. */
  private async poll(): Promise<void> {
    const now = performance.now();
    const due = this.checks.filter(({ question, askedAt }) => now - askedAt + POLL_MS > question.everyMs);
    if (due.length === 0) return;
    for (const one of due) one.askedAt = now;
    const questions = due.map(({ question }) => question);
    const answers = await this.answers(questions);
    if (this.stopped.signal.aborted) return;
    for (const question of questions) question.onAnswer(answers?.[question.name]);
  }

  /** The same questions make the same text under the same name, which each connection prepares once. */
  private statementOf(questions: readonly DueCheck[], values: readonly (readonly SqlValue[])[]): Statement {
    const text = textOf(questions, values);
    const known = this.statements.get(text);
    if (known !== undefined) return known;
    const statement = { name: `due_work.${this.statements.size + 1}`, text, timeoutMs: TIMEOUT_MS };
    this.statements.set(text, statement);
    return statement;
  }

  private async answers(questions: readonly DueCheck[]): Promise<Record<string, unknown> | undefined> {
    const values = questions.map((question) => question.values?.() ?? []);
    try {
      const statement = this.statementOf(questions, values);
      const [row] = await this.database.query<Record<string, unknown>>(statement, values.flat());
      return row;
    } catch {
      return undefined;
    }
  }
}

/** All in one; each has its values after those of the questions before it. */
function textOf(questions: readonly DueCheck[], values: readonly (readonly SqlValue[])[]): string {
  let before = 0;
  const columns = questions.map(({ name, sql }, index) => {
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
