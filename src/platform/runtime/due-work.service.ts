import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { stackOf } from '../../common/errors/error-text.js';
import { Database } from '../database/database.js';
import type { AnyStatement } from '../database/sql.js';
import type { ParamsOf, RowOf, SqlShape } from '../database/sql-types.js';
import { composed } from '../database/statement.js';
import { type Logger, Logs } from '../logging/logger.js';
import type { DueQuestion } from './due-question.js';
import { Poller } from './poller.js';

/** Milliseconds between two polls: half of the 1.5 s within which polling alone has to find some work. */
const POLL_MS = 400;
/** The longest time of one poll, in milliseconds; the next poll starts after it. */
const TIMEOUT_MS = 5000;

/** How often a question is asked, with which parameters, and what its answer starts. */
export type DueCheck<Params extends SqlShape, Answer> = {
  readonly question: DueQuestion<Params, Answer>;
  /** The longest time between two answers, in milliseconds; polls are 400 ms apart. */
  readonly everyMs: number;
  /**
   * Receives each answer, and starts the work without waiting for it. The answer is undefined when the database could
   * not be asked: the work then finds out by itself, and reports it.
   */
  readonly onAnswer: (answer: Answer | undefined) => void;
} & (keyof Params extends never ? unknown : { readonly params: () => ParamsOf<Params> });

/** What all checks share. */
interface AnyCheck {
  readonly question: DueQuestion<SqlShape, unknown>;
  readonly everyMs: number;
  readonly onAnswer: (answer: never) => void;
  readonly params?: () => ParamsOf<SqlShape>;
}

interface Asked {
  readonly check: AnyCheck;
  askedAt: number;
}

/**
 * Asks the database what is due, in one statement for all areas of this process: if each had a poll of its own, an idle
 * replica would run a dozen transactions a second. Wake signals within the process are faster; this finds the work of
 * other replicas, what a crash left, and what falls due with time.
 */
@Injectable()
export class DueWork implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly checks: Asked[] = [];
  /** By the names of the questions; one statement for each set of questions that are asked together. */
  private readonly statements = new Map<string, AnyStatement>();
  private readonly poller = new Poller({
    everyMs: POLL_MS,
    look: () => this.poll(),
    failed: (error) =>
      this.logger.error('due work could not be started; will retry', { error: stackOf(error) }),
  });
  private isStopped = false;
  private readonly logger: Logger;

  constructor(
    private readonly database: Database,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway');
  }

  /**
   * Call it in `onModuleInit`, once for each question. Throws when another question has a parameter of the same name.
   */
  watch<Params extends SqlShape, Answer>(check: DueCheck<Params, Answer>): void {
    for (const name of Object.keys(check.question.params)) {
      const other = this.checks.find((one) => Object.hasOwn(one.check.question.params, name));
      if (other !== undefined)
        throw new Error(
          `${check.question.name} and ${other.check.question.name} both have a parameter :${name}`,
        );
    }
    this.checks.push({ check, askedAt: Number.NEGATIVE_INFINITY });
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    await this.poller.stop();
  }

  /** Asks the questions that would be late at the next poll. */
  private async poll(): Promise<void> {
    const now = performance.now();
    const due = this.checks.filter(({ check, askedAt }) => now - askedAt + POLL_MS > check.everyMs);
    if (due.length === 0) return;
    for (const one of due) one.askedAt = now;
    const checks = due.map(({ check }) => check);
    const answers = await this.answers(checks);
    if (this.isStopped) return;
    for (const { question, onAnswer } of checks) onAnswer(answers?.[question.name] as never);
  }

  /** The same questions give the same text and name, so that each connection prepares it once. */
  private statementOf(checks: readonly AnyCheck[]): AnyStatement {
    const questions = checks.map(({ question }) => question);
    const key = questions.map(({ name }) => name).join(' ');
    const made = this.statements.get(key) ?? together(`due_work.${this.statements.size + 1}`, questions);
    this.statements.set(key, made);
    return made;
  }

  private async answers(checks: readonly AnyCheck[]): Promise<RowOf<SqlShape> | undefined> {
    const params = Object.assign({}, ...checks.map((check) => check.params?.())) as ParamsOf<SqlShape>;
    try {
      const [row] = await this.database.query(this.statementOf(checks), params);
      return row;
    } catch {
      return undefined;
    }
  }
}

/** All questions in one statement. */
function together(name: string, questions: readonly DueQuestion<SqlShape, unknown>[]): AnyStatement {
  return composed({
    name,
    params: Object.assign({}, ...questions.map(({ params }) => params)) as SqlShape,
    row: Object.fromEntries(questions.map((one) => [one.name, one.answer])),
    sql: `SELECT ${questions.map((one) => `${one.sql} AS ${one.name}`).join(',\n  ')}`,
    timeoutMs: TIMEOUT_MS,
  });
}
