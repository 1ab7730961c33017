import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import { EventSignal, EventStore } from '../../platform/events/event.store.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { DueWork } from '../../platform/runtime/due-work.service.js';
import { Poller } from '../../platform/runtime/poller.js';
import { Settings } from '../../platform/settings/settings.js';
import { areSet, type Budget, type BudgetPeriod, budgetsFor } from './budgets.js';
import * as sql from './usage.sql.js';

/** How many entries one transaction sums up, and how many days one deletes. */
const MAX_AT_ONCE = 5000;
const EVERY_MS = 1000;
const FORGET_EVERY_MS = 3_600_000;
/** The share of a budget at which a warning is sent. */
const WARNED_AT = 0.8;
/** 0.8 times 0.05 is a little more than 0.04. */
const HAIR = 1e-9;

/**
 * Sums up what turns used, at most a second after they ended, whichever replica ran them; and emits events about
 * budgets in the transaction whose sum passes them. Nothing waits for it: reports and budgets also read the entries
 * that are left.
 */
@Injectable()
export class UsageSums implements OnModuleInit, OnModuleDestroy {
  private readonly logger: Logger;
  private areMoreLeft = false;
  private readonly poller = new Poller({
    everyMs: () => (this.areMoreLeft ? 0 : Number.POSITIVE_INFINITY),
    look: () => this.look(),
    failed: (error) =>
      this.logger.warn('usage could not be summed up; it will be tried again', { error: String(error) }),
  });
  private forgotAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly database: Database,
    private readonly events: EventStore,
    private readonly signal: EventSignal,
    private readonly settings: Settings,
    private readonly due: DueWork,
    logs: Logs,
  ) {
    this.logger = logs.for('usage::sums');
  }

  onModuleInit(): void {
    this.due.watch({
      question: sql.ANY_ENTRIES,
      everyMs: EVERY_MS,
      onAnswer: (any) => {
        if (any === true || this.poller.isFailing) this.poller.wake();
      },
    });
    this.poller.start(Number.POSITIVE_INFINITY);
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
  }

  private async look(): Promise<void> {
    this.areMoreLeft = false;
    this.areMoreLeft = (await this.sumUp()) === MAX_AT_ONCE || (await this.forget()) === MAX_AT_ONCE;
  }

  /** @returns how many entries it summed up */
  private async sumUp(): Promise<number> {
    let told = 0;
    const taken = await this.database.transaction(async (runner) => {
      const [lock] = await runner.query(sql.LOCK_SUMS);
      if (lock?.locked !== true) return 0;
      const [sums] = await runner.query(sql.SUM_UP, { most: MAX_AT_ONCE });
      for (const row of sums?.spent ?? []) told += await this.tell(runner, row);
      return sums?.taken ?? 0;
    });
    this.signal.queued(told);
    return taken;
  }

  private async tell(runner: SqlRunner, row: sql.SpentParty): Promise<number> {
    const { limits } = this.settings.current;
    if (!areSet(limits)) return 0;
    let told = 0;
    for (const budget of budgetsFor(limits, row.scope, row.name)) {
      const spentUsd = budget.period === 'day' ? row.day_spent : row.month_spent;
      const startsOn = budget.period === 'day' ? row.day : row.month;
      if (spentUsd >= WARNED_AT * budget.limitUsd - HAIR)
        told += await this.notice(runner, 'warned', budget, startsOn, spentUsd);
      if (spentUsd >= budget.limitUsd)
        told += await this.notice(runner, 'reached', budget, startsOn, spentUsd);
    }
    return told;
  }

  /**
   * Once for each budget and period.
   * @returns how many hooks get the event
   */
  private async notice(
    runner: SqlRunner,
    notice: 'warned' | 'reached',
    { scope, name, period, limitUsd }: Budget,
    startsOn: string,
    spentUsd: number,
  ): Promise<number> {
    const [isNew] = await runner.query(sql.NOTICE, { scope, name, period, startsOn, limitUsd, notice });
    if (isNew === undefined) return 0;
    this.logger.warn(`the budget ${notice === 'warned' ? 'is nearly reached' : 'is reached'}`, {
      ...{ scope, name, period, limit_usd: limitUsd, spent_usd: spentUsd },
    });
    const data = {
      scope,
      ...(name !== '' && { name }),
      period: period satisfies BudgetPeriod,
      starts_on: startsOn,
      resets_at: isNew.resets_at,
      limit_usd: limitUsd,
      spent_usd: spentUsd,
    };
    return this.events.emit(runner, {
      name: `budget.${notice}`,
      userId: scope === 'users' ? name : null,
      data,
    });
  }

  /** @returns how many days it deleted */
  private async forget(): Promise<number> {
    if (performance.now() - this.forgotAt < FORGET_EVERY_MS) return 0;
    const { retention_days: days } = this.settings.current.usage;
    const gone = (await this.database.query(sql.FORGET_DAYS, { days, most: MAX_AT_ONCE }))[0]?.gone ?? 0;
    if (gone === MAX_AT_ONCE) return gone;
    for (const statement of sql.FORGET_SPENDING) await this.database.query(statement);
    this.forgotAt = performance.now();
    return gone;
  }
}
